/* SPDX-License-Identifier: MIT */
/* BURST's result under the names that programs of MAPI 2 use. */
#ifndef MAPI_BURST_H
#define MAPI_BURST_H

#include "mapi.h"

/* Same as mapi_burst_category_t if long has 64 bits, as libmapi is built. */
typedef struct burst_category {
    unsigned long bytes;
    unsigned long packets;
    unsigned long bursts;
    unsigned long gap_bytes;
    unsigned long gaps;
} burst_category_t;

#endif /* MAPI_BURST_H */
