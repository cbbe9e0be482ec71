/* SPDX-License-Identifier: MIT */
/* Programs of MAPI 2 include this for STARTSTOP, which is in mapi.h. */
#ifndef MAPI_STARTSTOP_H
#define MAPI_STARTSTOP_H

#include "mapi.h"

#endif /* MAPI_STARTSTOP_H */
