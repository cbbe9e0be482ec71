/* SPDX-License-Identifier: MIT */
/* Places in functions -> calls of stubs, written into the program's code. */
#ifndef NSF_PATCH_H
#define NSF_PATCH_H

#include "find.h"

/* Returns NULL, or what did not work. */
const char *nsf_patch(struct nsf_found *found);

#endif /* NSF_PATCH_H */
