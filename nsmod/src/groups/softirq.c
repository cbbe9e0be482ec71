// SPDX-License-Identifier: GPL-2.0
/* softirq: handlers of deferred work, from their start to their return. */
#include "groups/points.h"

static void entry(void *point, unsigned int vector)
{
	nsmod_point_slice(point);
}

static void number(void *point, unsigned int vector)
{
	nsmod_point_mark(point, vector);
}

static struct nsmod_point points[] = {
	NSMOD_START("softirq_entry", entry, "softirq", "a handler begins", .flags = NSLICE_SITE_INTERRUPT),
	NSMOD_MARK("softirq_entry", number, "softirq_vector", "its number: 2 NET_TX, 3 NET_RX, ..."),
	NSMOD_STOP("softirq_exit", entry, "softirq", "the handler returns", .flags = NSLICE_SITE_INTERRUPT),
};

NSMOD_GROUP(nsmod_group_softirq, "softirq", "deferred work", points);
