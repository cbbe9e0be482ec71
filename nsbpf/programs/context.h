/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Begin and end of softirqs -> whether this CPU serves one.  The kernel's own count of its contexts
 * has no name that programs can rely on: it moved twice since 6.1, and kernels without
 * CONFIG_KALLSYMS_ALL do not say where it is.  Hard interrupts count as what they interrupt: they
 * reach none of the tracepoints that need the context.
 */
#ifndef NSBPF_CONTEXT_H
#define NSBPF_CONTEXT_H

#include "kernel_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} nsbpf_softirqs SEC(".maps");

static __always_inline void nsbpf_set_softirq(__u32 is_softirq)
{
	const __u32 only = 0;
	__u32 *here = bpf_map_lookup_elem(&nsbpf_softirqs, &only);

	if (here)
		*here = is_softirq;
}

static __always_inline bool nsbpf_in_softirq(void)
{
	const __u32 only = 0;
	const __u32 *here = bpf_map_lookup_elem(&nsbpf_softirqs, &only);

	return here && *here;
}

/* Softirqs do not nest.  The loader attaches the end as the last program of its tracepoint. */
SEC("tp_btf/softirq_entry")
int BPF_PROG(context_softirq_entry)
{
	nsbpf_set_softirq(1);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(context_softirq_exit)
{
	nsbpf_set_softirq(0);
	return 0;
}

#endif /* NSBPF_CONTEXT_H */
