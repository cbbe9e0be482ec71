// SPDX-License-Identifier: GPL-2.0
/*
 * Events are created and released on their CPU by its hotplug callbacks, so a
 * probe there, which reads with interrupts off, sees either all or none of them.
 */
#include "counters/kernel_counters.h"

#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>

DEFINE_PER_CPU_ALIGNED(struct nsmod_cpu_counters, nsmod_counters);
static struct nslice_kernel_counter wanted[NSLICE_MAX_COUNTERS];
static u32 wanted_count;
static int hotplug_state; /* 0: none */
static bool is_starting;

/* These types select counters of the core; others have registers elsewhere, or none. */
static bool is_core_type(u32 type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

static int check_event(const struct perf_event *event)
{
	/* Pinned, so it is active on its CPU now or never will be. */
	if (READ_ONCE(event->state) != PERF_EVENT_STATE_ACTIVE)
		return -EBUSY;
	return nsmod_register_is_there(event) && nsmod_register_bits(event) ? 0 : -EOPNOTSUPP;
}

static int create(struct nsmod_counter *counter, const struct nslice_kernel_counter *request, u32 cpu)
{
	struct perf_event_attr attr = {
		.type = request->type,
		.size = sizeof(attr),
		.config = request->config,
		.config1 = request->config1,
		.pinned = 1,
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	int err;

	if (IS_ERR(event))
		return PTR_ERR(event);
	err = check_event(event);
	if (err) {
		perf_event_release_kernel(event);
		return err;
	}
	counter->event = event;
	counter->shift = 64 - nsmod_register_bits(event);
	counter->detour = 0;
	return 0;
}

static void release(struct nsmod_cpu_counters *own, u32 count)
{
	while (count > 0)
		perf_event_release_kernel(own->of[--count].event);
}

static int begin_cpu(unsigned int cpu)
{
	struct nsmod_cpu_counters *own = per_cpu_ptr(&nsmod_counters, cpu);
	u32 i;
	int err = 0;

	for (i = 0; i < wanted_count && !err; ++i)
		err = create(&own->of[i], &wanted[i], cpu);
	if (!err) {
		/* pairs with this CPU's probes, which read the count before the events */
		smp_store_release(&own->count, wanted_count);
		return 0;
	}
	release(own, i - 1);
	/* A CPU that comes online later must not be blocked: its records have no counters. */
	return is_starting ? err : 0;
}

static int end_cpu(unsigned int cpu)
{
	struct nsmod_cpu_counters *own = per_cpu_ptr(&nsmod_counters, cpu);
	const u32 count = own->count;

	WRITE_ONCE(own->count, 0);
	barrier(); /* readers run on this CPU with interrupts off */
	release(own, count);
	return 0;
}

int nsmod_counters_start(const struct nslice_kernel_counter *counters, u32 count)
{
	int state = 0;
	u32 i;

	for (i = 0; i < count; ++i)
		if (!is_core_type(counters[i].type))
			return -EOPNOTSUPP;
	memcpy(wanted, counters, count * sizeof(*wanted));
	wanted_count = count;
	is_starting = true;
	if (count > 0)
		state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "nsmod:counters", begin_cpu, end_cpu);
	is_starting = false;
	if (state < 0)
		return state;
	hotplug_state = state;
	return 0;
}

void nsmod_counters_stop(void)
{
	if (hotplug_state)
		cpuhp_remove_state(hotplug_state);
	hotplug_state = 0;
}

size_t nsmod_counters_text(char *text, size_t room)
{
	size_t at = scnprintf(text, room, "kernel.counters.names=");
	u32 i;

	for (i = 0; i < wanted_count; ++i)
		at += scnprintf(text + at, room - at, "%s%s", i ? "," : "", wanted[i].name);
	return at + scnprintf(text + at, room - at, "\nkernel.counters.source=%s\n", wanted_count ? "register" : "none");
}
