// SPDX-License-Identifier: GPL-2.0
/* The instructions of the NetSlice paper's Table 1, in safe variants, and arm64 counterparts. */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include "clock.h"
#include "compat.h"
#include "measure/measure.h"

/* noinline: each is a separate loop, like the empty one. */
#define LOOP(name_, body_)                          \
	static noinline void name_(u32 times)       \
	{                                           \
		u32 i;                              \
							    \
		for (i = 0; i < times; ++i) {       \
			body_;                      \
		}                                   \
	}

LOOP(clock_read, nsmod_clock(); barrier())
LOOP(clock_read_ordered, nsmod_clock_ordered())

#if defined(CONFIG_X86_64)
#include <asm/cpufeature.h>
#include <asm/msr.h>

LOOP(read_msr, u32 low; u32 high; asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(MSR_TSC_AUX)))
LOOP(cpuid_0, u32 leaf = 0; asm volatile("cpuid" : "+a"(leaf) : : "ebx", "ecx", "edx"))

/*
 * TSC_AUX is the CPU's number for rdtscp and rdpid, set by the kernel at CPU
 * start: writing its own value is harmless.
 */
static noinline void write_msr(u32 times)
{
	u32 low, high, i;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(MSR_TSC_AUX));
	for (i = 0; i < times; ++i)
		asm volatile("wrmsr" : : "c"(MSR_TSC_AUX), "a"(low), "d"(high) : "memory");
}

static const char *begin_msr(void)
{
	unsigned long flags;
	u64 value;
	int err;

	if (!boot_cpu_has(X86_FEATURE_RDTSCP))
		return "this CPU has no TSC_AUX, the only register that can be written safely";
	local_irq_save(flags);
	err = nsmod_read_msr(MSR_TSC_AUX, &value);
	if (!err)
		err = nsmod_write_msr(MSR_TSC_AUX, value);
	local_irq_restore(flags);
	return err ? "access to TSC_AUX refused by the hypervisor" : NULL;
}

/* A perf counter on this CPU, whose register can be read while the counter exists. */
static struct perf_event *counter;
static u32 counter_register;

LOOP(read_pmc, u32 low; u32 high; asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter_register)))

static void end_pmc(void)
{
	perf_event_release_kernel(counter);
	counter = NULL;
}

static const char *begin_pmc(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .size = sizeof(attr), .pinned = 1,
	};

	counter = perf_event_create_kernel_counter(&attr, raw_smp_processor_id(), NULL, NULL, NULL);
	if (IS_ERR(counter))
		return PTR_ERR(counter) == -EBUSY ? "the PMU is busy" : "this machine has no PMU (most virtual machines)";
	if (READ_ONCE(counter->state) != PERF_EVENT_STATE_ACTIVE || counter->hw.idx < 0) {
		end_pmc();
		return "the PMU is busy";
	}
	counter_register = counter->hw.event_base_rdpmc;
	return NULL;
}

const struct nsmod_measured nsmod_measured_instructions[] = {
	{ "cpuid", cpuid_0 },
	{ "rdmsr", read_msr, begin_msr },
	{ "rdpmc", read_pmc, begin_pmc, end_pmc },
	{ "rdtsc", clock_read },
	{ "lfence;rdtsc;lfence", clock_read_ordered },
	{ "wrmsr", write_msr, begin_msr },
};

#elif defined(CONFIG_ARM64)
#include <asm/sysreg.h>

LOOP(read_midr, u64 value; asm volatile("mrs %0, midr_el1" : "=r"(value)))
LOOP(read_tpidr, u64 value; asm volatile("mrs %0, tpidr_el1" : "=r"(value)))
LOOP(read_pmccntr, u64 value; asm volatile("mrs %0, pmccntr_el0" : "=r"(value)))
LOOP(wait_for_all, asm volatile("isb" ::: "memory"))

/* TPIDR_EL1 is the kernel's per-CPU offset or unused: writing its own value is harmless. */
static noinline void write_tpidr(u32 times)
{
	u64 value;
	u32 i;

	asm volatile("mrs %0, tpidr_el1" : "=r"(value));
	for (i = 0; i < times; ++i)
		asm volatile("msr tpidr_el1, %0" : : "r"(value) : "memory");
}

static const char *begin_pmccntr(void)
{
	const u64 version = read_sysreg(id_aa64dfr0_el1) >> 8 & 0xf; /* PMUVer */

	return version && version != 0xf ? NULL : "this machine has no PMU (most virtual machines)";
}

const struct nsmod_measured nsmod_measured_instructions[] = {
	{ "midr_el1", read_midr },
	{ "mrs, EL1", read_tpidr },
	{ "pmccntr", read_pmccntr, begin_pmccntr },
	{ "cntvct", clock_read },
	{ "isb;cntvct;isb", clock_read_ordered },
	{ "msr, EL1", write_tpidr },
	{ "isb", wait_for_all },
};
#endif

const u32 nsmod_measured_instructions_count = ARRAY_SIZE(nsmod_measured_instructions);
