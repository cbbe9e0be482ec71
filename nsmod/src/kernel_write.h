/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel's writer: record -> the ring of this CPU.  Any context: process, softirq, hard interrupt, NMI. */
#ifndef NSMOD_KERNEL_WRITE_H
#define NSMOD_KERNEL_WRITE_H

#include <linux/preempt.h>
#include <linux/sched.h>

#include <asm/barrier.h>

#include <nslice/record.h>

#include "clock.h"
#include "kernel_ring.h"

/* The second word of a record without its thread id: what a site knows beforehand. */
#define NSMOD_BITS(slice_id, kind, words) ((u64)((u32)(slice_id) | (u32)(kind) << 16 | (u32)(words) << 24) << 32)

/* Room for `units` behind a head, in a ring whose limit is reached.  1: try again; 0: no room, the loss is counted. */
int nsmod_make_room(struct nslice_ring_meta *ring, u32 units);

/*
 * A place is claimed by compare-and-swap, so whoever interrupts has one of its
 * own, and shown by the record's kind, which the drain has zeroed before.  The
 * clock is read between the look at the head and the swap: ticks rise within a
 * ring.  x86 claims without a bus lock, since preemption is off and CPUs write
 * to their own rings; arm64 claims by an atomic of the machine, and a writer
 * that has moved to another CPU meanwhile does no harm.
 */
#if defined(CONFIG_X86_64)
#define nsmod_writer_begin() preempt_disable_notrace()
#define nsmod_writer_end() preempt_enable_notrace()
#define nsmod_claim(place, expected, to) cmpxchg_local(place, expected, to)
#else
#define nsmod_writer_begin() barrier()
#define nsmod_writer_end() barrier()
#define nsmod_claim(place, expected, to) cmpxchg_relaxed(place, expected, to)
#endif

static __always_inline u64 *nsmod_unit_at(struct nslice_ring_meta *ring, u64 position)
{
	u64 *data = (void *)ring + NSLICE_RING_META_BYTES;

	return data + ((u32)position & ring->mask);
}

/* Inlined into each caller: `count` is a constant there. */
static __always_inline void nsmod_write(u64 bits, const u64 *words, const u32 count)
{
	const u32 units = NSLICE_HEAD_UNITS + count;
	struct nslice_ring_meta *ring;
	u64 head, seen, ticks, *to;
	u32 i;

	nsmod_writer_begin();
	ring = raw_cpu_read(nsmod_kernel_ring);
	if (unlikely(!ring))
		goto out;
	seen = READ_ONCE(ring->head);
	do {
		head = seen;
		while (unlikely((s32)(READ_ONCE(ring->limit) - ((u32)head + units)) < 0)) {
			if (!nsmod_make_room(ring, units))
				goto out;
			head = READ_ONCE(ring->head);
		}
		ticks = nsmod_clock();
		seen = nsmod_claim(&ring->head, head, head + NSLICE_POSITION_STEP(units));
	} while (unlikely(seen != head));
	to = nsmod_unit_at(ring, head);
	to[0] = ticks;
	for (i = 0; i < count; ++i)
		to[NSLICE_HEAD_UNITS + i] = words[i];
	/* pairs with the acquire in the drain's walk: a record with a kind is whole */
	smp_store_release(&to[1], bits | (u32)current->pid);
out:
	nsmod_writer_end();
}

static __always_inline void nsmod_write_1(u64 bits, u64 word)
{
	nsmod_write(bits, &word, 1);
}

static __always_inline void nsmod_write_3(u64 bits, u64 a, u64 b, u64 c)
{
	const u64 words[] = { a, b, c };

	nsmod_write(bits, words, 3);
}

#endif /* NSMOD_KERNEL_WRITE_H */
