/* SPDX-License-Identifier: MIT */
/* STATS's result by the name that programs of MAPI 2 know. */
#ifndef MAPI_STATS_H
#define MAPI_STATS_H

#include "mapi.h"

typedef mapi_value_stats_t stats_t;

#endif /* MAPI_STATS_H */
