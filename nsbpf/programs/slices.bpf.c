// SPDX-License-Identifier: (GPL-2.0 OR MIT)
/*
 * Slices with work and pairs inside, and the same work without probes, many times in a test
 * run (tests/bench/nsbpf_slices_bench.cpp).
 */
#include "kernel_types.h"

#include <bpf/bpf_helpers.h>

#define NSLICE_BPF_RING_BYTES (256 << 10)
#include <nslice/bpf.h>

#include "work.h"

#define NSBPF_PAIRS 8

/* Set by the loader: the verifier removes what is not executed. */
const volatile __u32 nsbpf_has_probes = 1;
const volatile __u32 nsbpf_rounds = 1;  /* of a run */
const volatile __u32 nsbpf_repeats = 1; /* of the work; with probes, 1 */
const volatile __u32 nsbpf_pairs = 0;
const volatile __u32 nsbpf_first_steps = 10; /* of work, before the first pair */
const volatile __u32 nsbpf_other_steps = 0;  /* after each pair */

__u64 nsbpf_chain = 3;

static __always_inline void nsbpf_work_and_pairs(__u64 *chain)
{
	__u32 i;

	nsbpf_work(chain, nsbpf_first_steps);
#pragma clang loop unroll(full)
	for (i = 0; i < NSBPF_PAIRS; ++i) {
		if (i < nsbpf_pairs) {
			if (nsbpf_has_probes) {
				NET_SLICE_START(pair);
				NET_SLICE_STOP(pair);
			}
			nsbpf_work(chain, nsbpf_other_steps);
		}
	}
}

static long one_round(__u64 number, void *context)
{
	__u64 chain = nsbpf_chain;
	__u32 i;

	if (nsbpf_has_probes)
		NET_SLICE_START(slice);
#pragma clang loop unroll(disable)
	for (i = 0; i < nsbpf_repeats; ++i)
		nsbpf_work_and_pairs(&chain);
	if (nsbpf_has_probes)
		NET_SLICE_STOP(slice);
	*(volatile __u64 *)&nsbpf_chain = chain;
	return 0;
}

SEC("xdp")
int slices(struct xdp_md *context)
{
	bpf_loop(nsbpf_rounds, one_round, NULL, 0);
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
