/* SPDX-License-Identifier: MIT */
/* Names of functions: symbol -> as its source has it -> unlike others, for its slice. */
#define _GNU_SOURCE
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/functions/demangle.h"

char *nsf_demangle(const char *symbol)
{
    char demangled[NSF_DEMANGLED_BYTES], *name;

    if (nsf_demangle_into(demangled, symbol))
        return strdup(demangled);
    return asprintf(&name, "%s()", symbol) < 0 ? NULL : name;
}

static int is_among(const char *name, char *const *others, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (strcmp(name, others[i]) == 0)
            return 1;
    return 0;
}

void nsf_make_unique(char name[NSF_NAME_BYTES], const char *function, char *const *others,
                     size_t count)
{
    const int room = NSF_NAME_BYTES - sizeof("_1000000");

    snprintf(name, NSF_NAME_BYTES, "%.*s", room, function);
    for (unsigned n = 2; is_among(name, others, count); ++n)
        snprintf(name, NSF_NAME_BYTES, "%.*s_%u", room, function, n % 1000000);
}
