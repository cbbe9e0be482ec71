/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* START and STOP -> a record with the counters of this CPU. */
#ifndef NSBPF_COUNTERS_H
#define NSBPF_COUNTERS_H

#include <nslice/bpf_write.h>

#define NSBPF_CPU_WORDS 128 /* bits for 8192 CPUs, the most that kernels have */

/* Set by the loader before the programs are verified, which knows them as constants. */
const volatile __u32 nsbpf_ring_mask = 511; /* data words - 1 */
const volatile __u32 nsbpf_counters = 0;    /* 0: the verifier removes this file's code */

/* An event for each counter of each CPU, by CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1); /* set by the loader */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} nsbpf_events SEC(".maps");

/* CPUs whose events could not be read: the loader opens them again, as after a CPU came online. */
__u64 nsbpf_uncounted[NSBPF_CPU_WORDS];

/* Returns their number; 0: one of them does not count now. */
static __always_inline __u32 nsbpf_read_counters(__u64 *words)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	struct bpf_perf_event_value value;
	__u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < NSLICE_MAX_COUNTERS && i < nsbpf_counters; ++i) {
		if (bpf_perf_event_read_value(&nsbpf_events, cpu * nsbpf_counters + i, &value,
					      sizeof(value))) {
			__sync_fetch_and_or(&nsbpf_uncounted[cpu / 64 % NSBPF_CPU_WORDS],
					    1ull << cpu % 64);
			return 0;
		}
		words[i] = value.counter;
	}
	return nsbpf_counters;
}

/*
 * The counters are read between reading the head and the claim, so that counts and the position in
 * the ring belong to the same moment: they grow within a ring, as times do.
 */
static __noinline int nsbpf_put_counted(struct nslice_ring_meta *ring, __u64 bits)
{
	__u64 words[NSLICE_MAX_COUNTERS] = {}, time_ns;
	int i;

#pragma clang loop unroll(disable)
	for (i = 0; i < NSLICE_BPF_TRIES; ++i) {
		const __u64 head = *(volatile __u64 *)&ring->head;
		const __u32 count = nsbpf_read_counters(words);
		const int claimed = nslice_bpf_try(ring, nsbpf_ring_mask, NSLICE_HEAD_WORDS + count,
						   head, &time_ns);

		if (claimed < 0)
			return 0;
		if (claimed) {
			nslice_bpf_fill(ring, nsbpf_ring_mask, (__u32)head, time_ns,
					bits | (__u64)count << NSLICE_HEAD_COUNT_SHIFT, words, count);
			return 1;
		}
	}
	nslice_bpf_lose(ring, NSLICE_LOST_BUSY);
	return 0;
}

#endif /* NSBPF_COUNTERS_H */
