/* SPDX-License-Identifier: MIT */
/* Symbol of a function -> its name as the source has it, whatever the symbol's author wants. */
#ifndef NSF_DEMANGLE_H
#define NSF_DEMANGLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NSF_DEMANGLED_BYTES 8192 /* with the 0 */

/*
 * False: not a symbol of C++, or one of more than 1024 bytes, or its name does not fit.  Names can
 * be larger than their symbols by any factor.
 */
int nsf_demangle_into(char name[NSF_DEMANGLED_BYTES], const char *symbol);

#ifdef __cplusplus
}
#endif

#endif /* NSF_DEMANGLE_H */
