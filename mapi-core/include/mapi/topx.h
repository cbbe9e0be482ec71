/* SPDX-License-Identifier: MIT */
/* Programs of MAPI 2 include this for TOP, which is in mapi.h. */
#ifndef MAPI_TOPX_H
#define MAPI_TOPX_H

#include "mapi.h"

#endif /* MAPI_TOPX_H */
