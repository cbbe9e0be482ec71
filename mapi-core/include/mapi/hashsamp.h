/* SPDX-License-Identifier: MIT */
/* Programs of MAPI 2 include this for HASHSAMP, which is in mapi.h. */
#ifndef MAPI_HASHSAMP_H
#define MAPI_HASHSAMP_H

#include "mapi.h"

#endif /* MAPI_HASHSAMP_H */
