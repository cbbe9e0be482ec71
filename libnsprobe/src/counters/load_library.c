/* SPDX-License-Identifier: MIT */
/* Name of a shared library -> handle, in programs with a dynamic loader. */
#define _GNU_SOURCE
#include "load_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

static int names_loader(struct dl_phdr_info *object, size_t bytes, void *answer)
{
    (void)bytes;
    for (int i = 0; i < object->dlpi_phnum; ++i)
        if (object->dlpi_phdr[i].p_type == PT_INTERP)
            *(int *)answer = 1;
    return 1; /* the first object is the program */
}

int nsp_can_load_libraries(void)
{
    int answer = 0;

    dl_iterate_phdr(names_loader, &answer);
    return answer;
}

void *nsp_load_library(const char *name)
{
    return nsp_can_load_libraries() ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
}
