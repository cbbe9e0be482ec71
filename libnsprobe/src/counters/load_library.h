/* SPDX-License-Identifier: MIT */
/* Shared libraries that are looked up at run time. */
#ifndef NSP_LOAD_LIBRARY_H
#define NSP_LOAD_LIBRARY_H

/* Whether this program has a dynamic loader.  A static one would get a second C library beside its own. */
int nsp_can_load_libraries(void);

/* As dlopen(name, RTLD_NOW | RTLD_LOCAL); NULL in a program without a loader, too. */
void *nsp_load_library(const char *name);

#endif /* NSP_LOAD_LIBRARY_H */
