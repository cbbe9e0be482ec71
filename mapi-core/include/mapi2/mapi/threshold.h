/* SPDX-License-Identifier: MIT */
/* Programs of MAPI 2 include this for THRESHOLD, which is in mapi.h. */
#ifndef MAPI_THRESHOLD_H
#define MAPI_THRESHOLD_H

#include "mapi.h"

#endif /* MAPI_THRESHOLD_H */
