/* SPDX-License-Identifier: MIT */
/* Shared libraries loaded at run time. */
#ifndef NSP_LOAD_LIBRARY_H
#define NSP_LOAD_LIBRARY_H

/* Whether this program has a dynamic loader.  A static program would load a second C library. */
int nsp_can_load_libraries(void);

/* As dlopen(name, RTLD_NOW | RTLD_LOCAL); also NULL in a program without a loader. */
void *nsp_load_library(const char *name);

#endif /* NSP_LOAD_LIBRARY_H */
