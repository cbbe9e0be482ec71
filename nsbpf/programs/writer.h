/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* A record -> the ring of this CPU, in any context but NMI, as nsmod's writer does. */
#ifndef NSBPF_WRITER_H
#define NSBPF_WRITER_H

#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include <nslice/record.h>
#include <nslice/ring.h>

#include "points.h"

/* Set by the loader before the programs are verified, which knows them as constants. */
const volatile __u32 nsbpf_cpus = 1;
const volatile __u32 nsbpf_ring_mask = 511;       /* data words - 1 */
const volatile __u32 nsbpf_ring_stride = 8192;    /* bytes from one CPU's ring to the next */
const volatile int nsbpf_process = 0; /* thread group that is recorded; 0: all */
const volatile __u16 nsbpf_port = 0;              /* of packets; 0: any */

/*
 * The second word of each point's records without the thread; 0: the point is off.  In memory that
 * the loader maps.
 */
__u64 nsbpf_bits[NSBPF_POINTS];

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 8192); /* set by the loader */
} nsbpf_rings SEC(".maps");

#define NSBPF_TRIES 8 /* a writer that interrupts takes the place that this one has seen */

static __always_inline struct nslice_ring_meta *nsbpf_own_ring(void)
{
	const __u32 first = 0, cpu = bpf_get_smp_processor_id();
	char *rings = bpf_map_lookup_elem(&nsbpf_rings, &first);
	__u64 offset;

	offset = cpu;
	if (!rings || cpu >= nsbpf_cpus)
		return NULL;
	/* The verifier of 6.1 knows the product only if the constant is the second factor. */
	asm volatile("%0 *= %1" : "+r"(offset) : "r"((__u64)nsbpf_ring_stride));
	return (void *)(rings + offset);
}

static __always_inline void nsbpf_lose(struct nslice_ring_meta *ring, enum nslice_lost cause)
{
	__sync_fetch_and_add(&ring->lost[cause], 1);
}

static __always_inline __u64 *nsbpf_word_at(struct nslice_ring_meta *ring, __u32 position)
{
	return (void *)((char *)ring + NSLICE_RING_META_BYTES +
			(__u64)(position & nsbpf_ring_mask) * NSLICE_WORD_BYTES);
}

/* The clock is read between reading the head and claiming, so that times grow within a ring. */
static __always_inline int nsbpf_claim(struct nslice_ring_meta *ring, __u32 words, __u32 *place,
				       __u64 *time_ns)
{
	int i;

#pragma clang loop unroll(disable)
	for (i = 0; i < NSBPF_TRIES; ++i) {
		const __u64 head = *(volatile __u64 *)&ring->head;
		const __u32 used = (__u32)head - (__u32)*(volatile __u64 *)&ring->tail;

		if (used + words > nsbpf_ring_mask + 1) {
			nsbpf_lose(ring, NSLICE_LOST_FULL);
			return 0;
		}
		*time_ns = bpf_ktime_get_ns();
		if (__sync_val_compare_and_swap(&ring->head, head, head + NSLICE_POSITION_STEP(words)) == head) {
			*place = (__u32)head;
			return 1;
		}
	}
	nsbpf_lose(ring, NSLICE_LOST_BUSY);
	return 0;
}

/* The kind makes a record complete: the drain has zeroed it before. */
static __always_inline void nsbpf_publish(__u64 *second, __u64 bits)
{
#ifdef __TARGET_ARCH_x86
	asm volatile("" ::: "memory"); /* stores stay in order */
	*(volatile __u64 *)second = bits;
#else
	__sync_lock_test_and_set(second, bits);
#endif
}

static __always_inline void nsbpf_write(enum nsbpf_point point, __u32 thread, const __u64 *words,
					const __u32 count)
{
	const __u64 bits = *(volatile __u64 *)&nsbpf_bits[point];
	struct nslice_ring_meta *ring;
	__u64 time_ns;
	__u32 place, i;

	if (!bits)
		return;
	ring = nsbpf_own_ring();
	if (!ring || !nsbpf_claim(ring, NSLICE_HEAD_WORDS + count, &place, &time_ns))
		return;
	*nsbpf_word_at(ring, place) = time_ns;
	for (i = 0; i < count; ++i)
		*nsbpf_word_at(ring, place + NSLICE_HEAD_WORDS + i) = words[i];
	nsbpf_publish(nsbpf_word_at(ring, place + 1), bits | thread);
}

/* The running or interrupted thread; whether it is recorded. */
static __always_inline int nsbpf_passes_thread(__u32 *thread)
{
	const __u64 both = bpf_get_current_pid_tgid();

	*thread = (__u32)both;
	return !nsbpf_process || nsbpf_process == (int)(both >> 32);
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
