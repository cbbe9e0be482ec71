/* SPDX-License-Identifier: GPL-2.0 */
/* The only file that depends on the kernel version (6.1 or newer, checked by the Makefile). */
#ifndef NSMOD_COMPAT_H
#define NSMOD_COMPAT_H

#include <linux/fs.h>
#include <linux/perf_event.h>
#include <linux/mm.h>
#include <linux/splice.h>
#include <linux/version.h>

/* 6.5: copy_splice_read() replaces generic_file_splice_read() for files without a page cache */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define nsmod_splice_read copy_splice_read
#else
#define nsmod_splice_read generic_file_splice_read
#endif

/* 6.12: no_llseek was removed; a NULL operation does the same */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define nsmod_no_llseek NULL
#else
#define nsmod_no_llseek no_llseek
#endif

/* 6.11: the tracepoint consume_skb has a further argument, the location */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define NSMOD_CONSUME_SKB_LOCATION , void *location
#else
#define NSMOD_CONSUME_SKB_LOCATION
#endif

#ifdef CONFIG_ARM64
#include <linux/perf/arm_pmu.h>

#include <asm/sysreg.h>

/* 6.11: some events have 63 bits */
#ifdef ARMPMU_EVT_63BIT
#define NSMOD_ARMPMU_EVT_63BIT ARMPMU_EVT_63BIT
#else
#define NSMOD_ARMPMU_EVT_63BIT 0
#endif

/*
 * 6.12: an event's index is its register number; before, it was one more, and 0
 * the cycle counter.  31: the cycle counter.
 */
static __always_inline int nsmod_register_number(const struct perf_event *event)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	return READ_ONCE(event->hw.idx);
#else
	const int index = READ_ONCE(event->hw.idx);

	return index > 0 ? index - 1 : index == 0 ? 31 : -1;
#endif
}

/*
 * ID_AA64DFR0_EL1.PMUVer 6 or more except 15: 64-bit registers.  The field's
 * name differs between kernels.
 */
static inline bool nsmod_arm_pmu_has_long_counters(void)
{
	const u32 version = read_sysreg(id_aa64dfr0_el1) >> 8 & 15;

	return version >= 6 && version != 15;
}
#endif /* CONFIG_ARM64 */

/* 6.3: flags of a mapping are changed by functions */
static inline void nsmod_never_executed(struct vm_area_struct *vma)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(vma, VM_MAYEXEC);
#else
	vma->vm_flags &= ~VM_MAYEXEC;
#endif
}

/* 6.11: the tracepoint kfree_skb has a further argument, the socket */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define NSMOD_KFREE_SKB_SOCKET , struct sock *rx_sk
#else
#define NSMOD_KFREE_SKB_SOCKET
#endif

/* 6.16: functions for MSRs were renamed */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define nsmod_read_msr rdmsrq_safe
#define nsmod_write_msr wrmsrq_safe
#else
#define nsmod_read_msr rdmsrl_safe
#define nsmod_write_msr wrmsrl_safe
#endif

#endif /* NSMOD_COMPAT_H */
