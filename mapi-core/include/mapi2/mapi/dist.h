/* SPDX-License-Identifier: MIT */
/* DIST's result under the names that programs of MAPI 2 use. */
#ifndef MAPI_DIST_H
#define MAPI_DIST_H

#include "mapi.h"

#ifdef __cplusplus
/* Without the tag of MAPI 2, which C++ would confuse with a function of the same name. */
typedef mapi_dist_t dist_t;
#else
/* Same as mapi_dist_t. */
typedef struct dist {
    unsigned long long min;
    unsigned long long max;
    unsigned long long intervals;
    unsigned long long data[1];
} dist_t;
#endif

#endif /* MAPI_DIST_H */
