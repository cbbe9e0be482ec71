/* SPDX-License-Identifier: MIT */
/* Programs of MAPI 2 include this for RES2FILE, which is in mapi.h. */
#ifndef MAPI_RES2FILE_H
#define MAPI_RES2FILE_H

#include "mapi.h"

#endif /* MAPI_RES2FILE_H */
