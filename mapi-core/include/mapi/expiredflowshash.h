/* SPDX-License-Identifier: MIT */
/* What programs of MAPI 2 include for the result of EXPIRED_FLOWS. */
#ifndef MAPI_EXPIREDFLOWSHASH_H
#define MAPI_EXPIREDFLOWSHASH_H

#include "results.h"

#endif /* MAPI_EXPIREDFLOWSHASH_H */
