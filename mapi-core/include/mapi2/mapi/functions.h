/* SPDX-License-Identifier: MIT */
/*
 * Constants and results of all functions, except hashsamp.h and protocols.h: these have names of
 * MAPI 2 that other headers may define as well (TCP_SYN), and are included by programs that use
 * them.
 */
#ifndef MAPI_FUNCTIONS_H
#define MAPI_FUNCTIONS_H

#include "binop.h"
#include "bucket.h"
#include "burst.h"
#include "dist.h"
#include "expiredflowshash.h"
#include "ipfixlib.h"
#include "pktinfo.h"
#include "res2file.h"
#include "sample.h"
#include "startstop.h"
#include "stats.h"
#include "threshold.h"
#include "topx.h"

#endif /* MAPI_FUNCTIONS_H */
