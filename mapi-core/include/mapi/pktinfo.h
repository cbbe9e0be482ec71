/* SPDX-License-Identifier: MIT */
/* Programs of MAPI 2 include this for PKTINFO, which is in mapi.h. */
#ifndef MAPI_PKTINFO_H
#define MAPI_PKTINFO_H

#include "mapi.h"

#endif /* MAPI_PKTINFO_H */
