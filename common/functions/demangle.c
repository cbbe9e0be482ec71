/* SPDX-License-Identifier: MIT */
/* Symbol of a function -> its name as the source has it, whatever the symbol's author wants. */
#include "common/functions/demangle.h"

#include <setjmp.h>
#include <string.h>

#include "common/functions/name_match.h"

#define MOST_SYMBOL_BYTES 1024 /* the demangler recurses, and has tables on the stack */

/*
 * Of libsupc++.a: as abi::__cxa_demangle(), but gives the name piece by piece and allocates
 * nothing, so that it can be left once the name is too long.
 */
extern int __gcclibcxx_demangle_callback(/* NOLINT(bugprone-reserved-identifier): its name */
                                         const char *symbol,
                                         void (*take)(const char *piece, size_t bytes, void *name),
                                         void *name);

struct text {
    char *at;
    size_t room;
    jmp_buf when_full;
};

static void take_piece(const char *piece, size_t bytes, void *given)
{
    struct text *const text = given;

    if (bytes >= text->room)
        longjmp(text->when_full, 1);
    memcpy(text->at, piece, bytes);
    text->at += bytes;
    text->room -= bytes;
}

int nsf_demangle_into(char name[NSF_DEMANGLED_BYTES], const char *symbol)
{
    struct text text = {.at = name, .room = NSF_DEMANGLED_BYTES};

    if (!nsf_is_mangled(symbol) || strnlen(symbol, MOST_SYMBOL_BYTES + 1) > MOST_SYMBOL_BYTES ||
        setjmp(text.when_full) != 0 ||
        __gcclibcxx_demangle_callback(symbol, take_piece, &text) != 0)
        return 0;
    *text.at = 0;
    return 1;
}
