/* SPDX-License-Identifier: MIT */
/* FLOW_REPORT's result with "SHMEM" under the names that programs of MAPI 2 use. */
#ifndef MAPI_IPFIXLIB_H
#define MAPI_IPFIXLIB_H

#include "mapi.h"

#define IFP_MAX_REC_SIZE 2000

/* Same as mapi_flow_report_t if long has 64 bits, as libmapi is built. */
typedef struct {
    unsigned long recno;
    unsigned size;
    char bytes[IFP_MAX_REC_SIZE];
} ifp_dgram_t;

#endif /* MAPI_IPFIXLIB_H */
