// SPDX-License-Identifier: GPL-2.0
/* napi: number of packets processed by each poll of a device. */
#include <linux/netdevice.h>

#include "groups/points.h"

static void polled(void *point, struct napi_struct *napi, int work, int budget)
{
	nsmod_point_mark(point, work);
}

static struct nsmod_point points[] = {
	NSMOD_MARK("napi_poll", polled, "napi_work", "a poll ends: packets processed"),
};

NSMOD_GROUP(nsmod_group_napi, "napi", "polls of devices", points);
