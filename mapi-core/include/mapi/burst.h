/* SPDX-License-Identifier: MIT */
/* BURST's result by the name that programs of MAPI 2 know. */
#ifndef MAPI_BURST_H
#define MAPI_BURST_H

#include "mapi.h"

typedef mapi_burst_category_t burst_category_t;

#endif /* MAPI_BURST_H */
