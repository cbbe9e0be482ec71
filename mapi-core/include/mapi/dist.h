/* SPDX-License-Identifier: MIT */
/* DIST's result by the name that programs of MAPI 2 know. */
#ifndef MAPI_DIST_H
#define MAPI_DIST_H

#include "mapi.h"

typedef mapi_dist_t dist_t;

#endif /* MAPI_DIST_H */
