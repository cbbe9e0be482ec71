/* SPDX-License-Identifier: GPL-2.0 */
/* The clock of user probes, read in the kernel, so that both use the same time. */
#ifndef NSMOD_CLOCK_H
#define NSMOD_CLOCK_H

#include <linux/irqflags.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#if defined(CONFIG_X86_64)
#include <asm/msr.h>

#define NSMOD_CLOCK_NAME "tsc"

static __always_inline u64 nsmod_clock(void)
{
	return rdtsc();
}

/* Everything before it completes before anything after it starts. */
static __always_inline void nsmod_fence(void)
{
	asm volatile("lfence" ::: "memory");
}

#elif defined(CONFIG_ARM64)
#include <asm/barrier.h>

#define NSMOD_CLOCK_NAME "cntvct"

static __always_inline u64 nsmod_clock(void)
{
	u64 ticks;

	asm volatile("mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

static __always_inline void nsmod_fence(void)
{
	asm volatile("isb" ::: "memory");
}

#else
#error "nsmod: unsupported architecture: only x86-64 and arm64 are supported"
#endif

static __always_inline u64 nsmod_clock_ordered(void)
{
	u64 ticks;

	nsmod_fence();
	ticks = nsmod_clock();
	nsmod_fence();
	return ticks;
}

/* Ticks and nanoseconds of CLOCK_MONOTONIC_RAW, read together. */
static inline void nsmod_clock_pair(u64 *ticks, u64 *mono_ns)
{
	unsigned long flags;

	local_irq_save(flags);
	*ticks = nsmod_clock_ordered();
	*mono_ns = ktime_get_raw_ns();
	local_irq_restore(flags);
}

#endif /* NSMOD_CLOCK_H */
