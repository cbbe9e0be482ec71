// SPDX-License-Identifier: GPL-2.0
/* napi: number of packets processed by each poll of a device. */
#include <linux/netdevice.h>

#include "groups/points.h"

static void polled(void *point, struct napi_struct *napi, int work, int budget)
{
	nsmod_point_mark(point, work);
}

enum { NSLICE_POINTS_NAPI(NSMOD_POINT_ID) };
static struct nsmod_point points[] = { NSLICE_POINTS_NAPI(NSMOD_POINT) };

NSMOD_GROUP(napi);
