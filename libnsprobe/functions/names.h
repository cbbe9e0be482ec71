/* SPDX-License-Identifier: MIT */
/* Names of functions: symbol -> as its source has it -> unlike others, for its slice. */
#ifndef NSF_NAMES_H
#define NSF_NAMES_H

#include <stddef.h>

#define NSF_NAME_BYTES 512

/*
 * `parse()` for C, `net::Table<long>::find(long)` for C++.  To be freed; NULL: out of memory.
 */
char *nsf_demangle(const char *symbol);

/* The function's name, cut if it is longer, with "_2" and so on if it is one of `count` others. */
void nsf_make_unique(char name[NSF_NAME_BYTES], const char *function, char *const *others,
                     size_t count);

#endif /* NSF_NAMES_H */
