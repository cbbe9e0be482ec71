/* SPDX-License-Identifier: GPL-2.0 */
/* A perf event on this CPU -> the value of its register. */
#ifndef NSMOD_COUNTER_REGISTER_H
#define NSMOD_COUNTER_REGISTER_H

#include <linux/perf_event.h>

#include "compat.h"

#if defined(CONFIG_X86_64)
#include <asm/perf_event.h>

/* Width of the counter in bits. */
static inline u32 nsmod_register_bits(const struct perf_event *event)
{
	struct x86_pmu_capability pmu;

	perf_get_x86_pmu_capability(&pmu);
	return pmu.bit_width_gp;
}

static __always_inline u64 nsmod_register_read(const struct perf_event *event)
{
	u32 low, high;

	asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(event->hw.event_base_rdpmc) : "memory");
	return low | (u64)high << 32;
}

static __always_inline bool nsmod_register_is_there(const struct perf_event *event)
{
	return (u32)READ_ONCE(event->hw.idx) < INTEL_PMC_IDX_FIXED_BTS; /* others are not counters */
}

#elif defined(CONFIG_ARM64)
#include <linux/perf/arm_pmu.h>

/* 0: the event uses two registers, or its width is unknown. */
static inline u32 nsmod_register_bits(const struct perf_event *event)
{
	const u32 flags = event->hw.flags & (ARMPMU_EVT_64BIT | ARMPMU_EVT_47BIT | NSMOD_ARMPMU_EVT_63BIT);

	if (flags == 0)
		return 32;
	/* Before PMUv3p5 only the cycle counter has a full 64-bit register. */
	return flags == ARMPMU_EVT_64BIT && (nsmod_arm_pmu_has_long_counters() || nsmod_register_number(event) == 31) ? 64 : 0;
}

/*
 * The register number is part of the instruction, so this is a table of reads
 * of 16 bytes each, the last one for the cycle counter.  The number of executed
 * instructions is the same for every register.
 */
void nsmod_counter_registers(void);

static __always_inline u64 nsmod_register_read(const struct perf_event *event)
{
	u64 value;

	asm volatile("adrp	x16, nsmod_counter_registers\n\t"
		     "add	x16, x16, :lo12:nsmod_counter_registers\n\t"
		     "add	x16, x16, %w1, uxtw #4\n\t"
		     "blr	x16\n\t"
		     "mov	%0, x17"
		     : "=r"(value) : "r"(nsmod_register_number(event)) : "x16", "x17", "x30", "memory");
	return value;
}

static __always_inline bool nsmod_register_is_there(const struct perf_event *event)
{
	return (u32)nsmod_register_number(event) < 32;
}

#endif

#endif /* NSMOD_COUNTER_REGISTER_H */
