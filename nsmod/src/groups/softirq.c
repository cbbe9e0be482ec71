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

enum { NSLICE_POINTS_SOFTIRQ(NSMOD_POINT_ID) };
static struct nsmod_point points[] = { NSLICE_POINTS_SOFTIRQ(NSMOD_POINT) };

NSMOD_GROUP(softirq);
