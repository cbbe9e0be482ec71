// SPDX-License-Identifier: (GPL-2.0 OR MIT)
/* Records, clock reads and nothing, many times in a test run: what a record costs (tests/bench). */
#include "writer.h"

#define NSBPF_ROUNDS 100

__u64 nsbpf_sink;

static long one_nothing(__u64 number, void *context)
{
	*(volatile __u64 *)&nsbpf_sink = number;
	return 0;
}

static long one_clock(__u64 number, void *context)
{
	*(volatile __u64 *)&nsbpf_sink = bpf_ktime_get_ns();
	return 0;
}

static long one_record(__u64 number, void *context)
{
	nsbpf_slice(IRQ_START);
	return 0;
}

#define NSBPF_MANY(name, one)                                   \
	SEC("xdp")                                              \
	int name(struct xdp_md *context)                        \
	{                                                       \
		bpf_loop(NSBPF_ROUNDS, one, NULL, 0);           \
		return XDP_PASS;                                \
	}

NSBPF_MANY(nothing, one_nothing)
NSBPF_MANY(clocks, one_clock)
NSBPF_MANY(records, one_record)

char LICENSE[] SEC("license") = "Dual MIT/GPL";
