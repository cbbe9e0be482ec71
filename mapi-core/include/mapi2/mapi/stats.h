/* SPDX-License-Identifier: MIT */
/* STATS's result under the names that programs of MAPI 2 use. */
#ifndef MAPI_STATS_H
#define MAPI_STATS_H

#include "mapi.h"

#ifdef __cplusplus
/* Without the tag of MAPI 2, which C++ would confuse with a function of the same name. */
typedef mapi_value_stats_t stats_t;
#else
/* Same as mapi_value_stats_t; the last two members are not from MAPI 2. */
typedef struct stats {
    unsigned long long count;
    long double sum;
    long double sum2;
    double max;
    double min;
    unsigned long long exact_max;
    unsigned long long exact_min;
} stats_t;
#endif

#endif /* MAPI_STATS_H */
