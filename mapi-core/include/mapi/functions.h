/* SPDX-License-Identifier: MIT */
/* What belongs to single functions, of all of them. */
#ifndef MAPI_FUNCTIONS_H
#define MAPI_FUNCTIONS_H

#include "binop.h"
#include "bucket.h"
#include "burst.h"
#include "dist.h"
#include "expiredflowshash.h"
#include "hashsamp.h"
#include "pktinfo.h"
#include "res2file.h"
#include "sample.h"
#include "startstop.h"
#include "stats.h"
#include "threshold.h"
#include "topx.h"

#endif /* MAPI_FUNCTIONS_H */
