/* SPDX-License-Identifier: MIT */
/* Names of functions: symbol -> as its source has it -> unlike others, for its slice. */
#define _GNU_SOURCE
#include "names.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/functions/name_match.h"

typedef char *demangle_function(const char *, char *, size_t *, int *);

/* Of the C++ library that the program has, else loaded for this. */
static demangle_function *find_demangle(void)
{
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle"), *library;

    if (!found && (library = dlopen("libstdc++.so.6", RTLD_NOW)))
        found = dlsym(library, "__cxa_demangle");
    return (demangle_function *)found;
}

static char *with_parentheses(const char *symbol)
{
    char *name;

    return asprintf(&name, "%s()", symbol) < 0 ? NULL : name;
}

char *nsf_demangle(const char *symbol)
{
    static demangle_function *demangle;
    static int is_searched;
    int status = -1;
    char *name = NULL;

    if (!nsf_is_mangled(symbol))
        return with_parentheses(symbol);
    if (!is_searched)
        demangle = find_demangle();
    is_searched = 1;
    if (demangle)
        name = demangle(symbol, NULL, NULL, &status);
    return name ? name : with_parentheses(symbol);
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
