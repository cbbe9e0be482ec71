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

struct name {
    char *at;
    size_t room;
    jmp_buf when_full;
};

static void take_piece(const char *piece, size_t bytes, void *given)
{
    struct name *const name = given;

    if (bytes >= name->room)
        longjmp(name->when_full, 1);
    memcpy(name->at, piece, bytes);
    name->at += bytes;
    name->room -= bytes;
}

int nsf_demangle_into(char text[NSF_DEMANGLED_BYTES], const char *symbol)
{
    struct name name = {.at = text, .room = NSF_DEMANGLED_BYTES};

    if (!nsf_is_mangled(symbol) || strnlen(symbol, MOST_SYMBOL_BYTES + 1) > MOST_SYMBOL_BYTES ||
        setjmp(name.when_full) != 0 ||
        __gcclibcxx_demangle_callback(symbol, take_piece, &name) != 0)
        return 0;
    *name.at = 0;
    return 1;
}
