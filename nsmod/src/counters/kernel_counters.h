/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of START and STOP records: a perf event each on every CPU, read from its register. */
#ifndef NSMOD_KERNEL_COUNTERS_H
#define NSMOD_KERNEL_COUNTERS_H

#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <nslice/control.h>

#include "counters/counter_register.h"

struct nsmod_counter {
	struct perf_event *event;
	u64 detour; /* counted by probes on uncommon paths: subtracted */
	u32 shift;  /* 64 minus the register's width */
};

struct nsmod_cpu_counters {
	u32 count; /* 0: this CPU has none at present */
	struct nsmod_counter of[NSLICE_MAX_COUNTERS];
};

DECLARE_PER_CPU_ALIGNED(struct nsmod_cpu_counters, nsmod_counters);

/*
 * Starts counters on every online CPU, and on CPUs that come online later.  0;
 * -ENOENT, -EOPNOTSUPP: no such counter; -EBUSY: the counter is in use;
 * -EINVAL, -EACCES: as perf_event_open().
 */
int nsmod_counters_start(const struct nslice_kernel_counter *wanted, u32 count);
void nsmod_counters_stop(void);

/* INFO lines.  Returns bytes written. */
size_t nsmod_counters_text(char *text, size_t room);

/*
 * Running total since the event was created.  perf updates the event's numbers
 * when its register overflows.
 */
static __always_inline u64 nsmod_counter_total(const struct nsmod_counter *counter)
{
	struct perf_event *event = counter->event;
	u64 before, count, value;

	do {
		before = local64_read(&event->hw.prev_count);
		count = local64_read(&event->count);
		value = nsmod_register_read(event);
	} while (unlikely(before != local64_read(&event->hw.prev_count) || count != local64_read(&event->count)));
	return count + ((value - before) << counter->shift >> counter->shift);
}

/* A pinned event that lost its register has stopped counting. */
static __always_inline bool nsmod_counter_runs(const struct nsmod_counter *counter)
{
	return READ_ONCE(counter->event->state) == PERF_EVENT_STATE_ACTIVE && nsmod_register_is_there(counter->event);
}

#endif /* NSMOD_KERNEL_COUNTERS_H */
