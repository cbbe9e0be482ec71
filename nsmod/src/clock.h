/* SPDX-License-Identifier: GPL-2.0 */
/* The clock that user probes read, read in the kernel: the two sides share one time. */
#ifndef NSMOD_CLOCK_H
#define NSMOD_CLOCK_H

#include <linux/types.h>

#if defined(CONFIG_X86_64)
#include <asm/msr.h>

#define NSMOD_CLOCK_NAME "tsc"

static __always_inline u64 nsmod_clock(void)
{
	return rdtsc();
}

static __always_inline u64 nsmod_clock_ordered(void)
{
	u64 ticks;

	asm volatile("lfence" ::: "memory");
	ticks = rdtsc();
	asm volatile("lfence" ::: "memory");
	return ticks;
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

static __always_inline u64 nsmod_clock_ordered(void)
{
	u64 ticks;

	asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
	return ticks;
}

#else
#error "nsmod knows x86-64 and arm64"
#endif

#endif /* NSMOD_CLOCK_H */
