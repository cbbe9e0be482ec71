/* SPDX-License-Identifier: MIT */
/* Programs of MAPI 2 include this for SAMPLE, which is in mapi.h. */
#ifndef MAPI_SAMPLE_H
#define MAPI_SAMPLE_H

#include "mapi.h"

#endif /* MAPI_SAMPLE_H */
