/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * A record -> the ring of this CPU, in any context but NMI, as nsmod's writer does.  Used by
 * <nslice/bpf.h> and by the recorder's own programs.
 */
#ifndef NSLICE_BPF_WRITE_H
#define NSLICE_BPF_WRITE_H

#ifndef __VMLINUX_H__ /* has the same types */
#include <linux/types.h>
#include <linux/bpf.h>
#endif

#include <bpf/bpf_helpers.h>

#include <nslice/record.h>
#include <nslice/ring.h>

#define NSLICE_BPF_TRIES 8 /* a writer that interrupts takes the place that this one has seen */

/*
 * The map of the rings has an element for each CPU.  The mask, which is the number of data words
 * minus 1, must be a constant for the verifier: from it, it knows that the data are inside the
 * element.
 */
static __always_inline struct nslice_ring_meta *nslice_bpf_own_ring(void *rings)
{
	const __u32 cpu = bpf_get_smp_processor_id();

	return (struct nslice_ring_meta *)bpf_map_lookup_elem(rings, &cpu);
}

static __always_inline void nslice_bpf_lose(struct nslice_ring_meta *ring, enum nslice_lost cause)
{
	__sync_fetch_and_add(&ring->lost[cause], 1);
}

static __always_inline __u64 *nslice_bpf_word_at(struct nslice_ring_meta *ring, __u32 mask,
						 __u32 position)
{
	return (__u64 *)((char *)ring + NSLICE_RING_META_BYTES +
			 (__u64)(position & mask) * NSLICE_WORD_BYTES);
}

/*
 * Claims the words that begin at `head`, which the caller has read from the ring.  The clock is
 * read between that and the claim, so that times grow within a ring.  The claim is fully ordered:
 * no store of the record comes before the reading of the tail, and so before the drain's zeroing.
 * 1; 0: another writer was faster; -1: there is no room, which is counted.
 */
static __always_inline int nslice_bpf_try(struct nslice_ring_meta *ring, __u32 mask, __u32 words,
					  __u64 head, __u64 *time_ns)
{
	const __u32 used = (__u32)head - (__u32)*(volatile __u64 *)&ring->tail;

	if (used + words > mask + 1) {
		nslice_bpf_lose(ring, NSLICE_LOST_FULL);
		return -1;
	}
	*time_ns = bpf_ktime_get_ns();
	return __sync_val_compare_and_swap(&ring->head, head,
					   head + NSLICE_POSITION_STEP(words)) == head;
}

static __always_inline int nslice_bpf_claim(struct nslice_ring_meta *ring, __u32 mask, __u32 words,
					    __u32 *place, __u64 *time_ns)
{
	int i;

#pragma clang loop unroll(disable)
	for (i = 0; i < NSLICE_BPF_TRIES; ++i) {
		const __u64 head = *(volatile __u64 *)&ring->head;
		const int claimed = nslice_bpf_try(ring, mask, words, head, time_ns);

		if (claimed < 0)
			return 0;
		if (claimed) {
			*place = (__u32)head;
			return 1;
		}
	}
	nslice_bpf_lose(ring, NSLICE_LOST_BUSY);
	return 0;
}

/* The kind makes a record complete: the drain has zeroed it before. */
static __always_inline void nslice_bpf_publish(__u64 *second, __u64 bits)
{
#ifdef __TARGET_ARCH_x86
	asm volatile("" ::: "memory"); /* stores stay in order */
	*(volatile __u64 *)second = bits;
#else
	__sync_lock_test_and_set(second, bits);
#endif
}

/* bits: the second word of the record, with the thread and the number of words. */
static __always_inline void nslice_bpf_fill(struct nslice_ring_meta *ring, __u32 mask, __u32 place,
					    __u64 time_ns, __u64 bits, const __u64 *words,
					    const __u32 count)
{
	__u32 i;

	*nslice_bpf_word_at(ring, mask, place) = time_ns;
	for (i = 0; i < count; ++i)
		*nslice_bpf_word_at(ring, mask, place + NSLICE_HEAD_WORDS + i) = words[i];
	nslice_bpf_publish(nslice_bpf_word_at(ring, mask, place + 1), bits);
}

static __always_inline void nslice_bpf_put(struct nslice_ring_meta *ring, __u32 mask, __u64 bits,
					   const __u64 *words, const __u32 count)
{
	__u64 time_ns;
	__u32 place;

	if (nslice_bpf_claim(ring, mask, NSLICE_HEAD_WORDS + count, &place, &time_ns))
		nslice_bpf_fill(ring, mask, place, time_ns, bits, words, count);
}

/* All types of programs may read the thread here; the helper with the number is for fewer. */
struct task_struct___nslice {
	int pid;
} __attribute__((preserve_access_index));

/* bits: without the thread. */
static __always_inline int nslice_bpf_write(void *rings, __u32 mask, __u64 bits, const __u64 *words,
					    const __u32 count)
{
	struct nslice_ring_meta *ring = nslice_bpf_own_ring(rings);
	const struct task_struct___nslice *thread = (const void *)bpf_get_current_task_btf();

	if (ring)
		nslice_bpf_put(ring, mask, bits | (__u32)thread->pid, words, count);
	return 0;
}

#endif /* NSLICE_BPF_WRITE_H */
