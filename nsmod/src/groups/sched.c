// SPDX-License-Identifier: GPL-2.0
/* sched: which thread leaves the CPU, and which one runs next. */
#include <linux/sched.h>

#include "groups/points.h"

/* Runs in the context of the thread that leaves, whose id is in the record. */
static void switched(void *point, bool preempt, struct task_struct *previous, struct task_struct *next, unsigned int state)
{
	if (nsmod_passes_thread(previous) || nsmod_passes_thread(next))
		nsmod_point_mark_of_any(point, (u32)next->pid);
}

enum { NSLICE_POINTS_SCHED(NSMOD_POINT_ID) };
static struct nsmod_point points[] = { NSLICE_POINTS_SCHED(NSMOD_POINT) };

NSMOD_GROUP(sched);
