/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Points -> records in the ring of this CPU (<nslice/bpf_write.h>), for the recorded process. */
#ifndef NSBPF_WRITER_H
#define NSBPF_WRITER_H

#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include <nslice/bpf_write.h>

#include "counters.h"
#include "points.h"

/* Set by the loader before the programs are verified, which knows them as constants. */
const volatile int nsbpf_process = 0;       /* thread group that is recorded; 0: all */
const volatile int nsbpf_thread = 0;        /* thread that is recorded; 0: all */
const volatile __u16 nsbpf_port = 0;        /* of packets; 0: any */

/*
 * The second word of each point's records without the thread; 0: the point is off.  In memory that
 * the loader maps.
 */
__u64 nsbpf_bits[NSBPF_POINTS];

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* these are set by the loader */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 8192);
} nsbpf_rings SEC(".maps");

static __always_inline void nsbpf_write(enum nsbpf_point point, __u32 thread, const __u64 *words,
					const __u32 count)
{
	const __u64 bits = *(volatile __u64 *)&nsbpf_bits[point];
	struct nslice_ring_meta *ring;

	if (!bits)
		return;
	ring = nslice_bpf_own_ring(&nsbpf_rings);
	if (ring && nsbpf_counters && !count && NSLICE_RECORD_KIND(bits) <= NSLICE_KIND_STOP)
		nsbpf_put_counted(ring, bits | thread);
	else if (ring)
		nslice_bpf_put(ring, nsbpf_ring_mask, bits | thread, words, count);
}

static __always_inline bool nsbpf_is_wanted_thread(int process, int thread)
{
	return (!nsbpf_process || nsbpf_process == process) && (!nsbpf_thread || nsbpf_thread == thread);
}

/* The running or interrupted thread; whether it is recorded. */
static __always_inline int nsbpf_passes_thread(__u32 *thread)
{
	const __u64 both = bpf_get_current_pid_tgid();

	*thread = (__u32)both;
	return nsbpf_is_wanted_thread((int)(both >> 32), (int)both);
}

static __always_inline void nsbpf_slice(enum nsbpf_point point)
{
	__u32 thread;

	if (nsbpf_passes_thread(&thread))
		nsbpf_write(point, thread, NULL, 0);
}

/* For a point that does its own filtering. */
static __always_inline void nsbpf_mark_of_any(enum nsbpf_point point, __u64 value)
{
	nsbpf_write(point, (__u32)bpf_get_current_pid_tgid(), &value, 1);
}

static __always_inline void nsbpf_mark(enum nsbpf_point point, __u64 value)
{
	__u32 thread;

	if (nsbpf_passes_thread(&thread))
		nsbpf_write(point, thread, &value, 1);
}

/* One packet. */
static __always_inline void nsbpf_init(enum nsbpf_point point, __u64 number, __u64 bytes)
{
	const __u64 words[] = { number, 1, bytes };
	__u32 thread;

	if (nsbpf_passes_thread(&thread))
		nsbpf_write(point, thread, words, NSLICE_INIT_WORDS);
}

#endif /* NSBPF_WRITER_H */
