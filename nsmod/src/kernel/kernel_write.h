/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's writer: record -> the ring of this CPU, in any context including NMI. */
#ifndef NSMOD_KERNEL_WRITE_H
#define NSMOD_KERNEL_WRITE_H

#include <linux/container_of.h>
#include <linux/jump_label.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include <asm/barrier.h>

#include <nslice/kernel.h>

#include "clock.h"
#include "kernel/kernel_ring.h"

/* The second word of a record without its thread id: constant for a site. */
#define NSMOD_BITS(slice_id, kind, words)               \
	((u64)(slice_id) << NSLICE_HEAD_SLICE_SHIFT |   \
	 (u64)(kind) << NSLICE_HEAD_KIND_SHIFT |        \
	 (u64)(words) << NSLICE_HEAD_COUNT_SHIFT)

/* Enabled while records have fences or counters. */
DECLARE_STATIC_KEY_FALSE(nsmod_general_key);

/*
 * Makes room for a record of `record_words` words in a ring whose limit is reached.
 * 1: try again; 0: no room, the loss is counted.
 */
int nsmod_make_room(struct nslice_ring_meta *ring, u32 record_words);

/*
 * For a site without bits: assigns them, unless the recording's rules turn it
 * off.  Returns its bits, 0: it is off.  Any context.
 */
u64 nsmod_kernel_site_meet(struct nslice_kernel_site *site);

/* nsmod_write() while nsmod_general_key is enabled. */
void nsmod_write_general(struct nslice_kernel_site *site, const u64 *words, u32 count);

/*
 * A record's place is claimed by compare-and-swap, so that an interrupt gets
 * another place, and published by the record's kind, which the drain has zeroed
 * before.  The clock is read between reading the head and the swap, so that
 * ticks increase within a ring.  x86 claims without a bus lock, because
 * preemption is off and CPUs write only to their own rings; arm64 claims by an
 * atomic instruction, and it is harmless if the writer has moved to another CPU
 * meanwhile.  Therefore, waiting until no writer is in the middle of a record
 * means waiting for all CPUs on x86, and for all tasks on an arm64 kernel that
 * preempts kernel threads.
 */
#if defined(CONFIG_X86_64)
#define nsmod_writer_begin() preempt_disable_notrace()
#define nsmod_writer_end() preempt_enable_notrace()
#define nsmod_claim(place, expected, to) cmpxchg_local(place, expected, to)
#define nsmod_writers_leave() synchronize_rcu()
#else
#define nsmod_writer_begin() barrier()
#define nsmod_writer_end() barrier()
#define nsmod_claim(place, expected, to) cmpxchg_relaxed(place, expected, to)
#if !IS_ENABLED(CONFIG_PREEMPTION)
#define nsmod_writers_leave() synchronize_rcu()
#elif IS_ENABLED(CONFIG_TASKS_RCU)
#define nsmod_writers_leave() (synchronize_rcu(), synchronize_rcu_tasks())
#else
#error "nsmod: a kernel with CONFIG_PREEMPTION requires CONFIG_TASKS_RCU (selected by any tracer of CONFIG_FTRACE)"
#endif
#endif

static __always_inline struct nslice_ring_meta *nsmod_ring_of(const struct nslice_kernel_site *site)
{
	return container_of(raw_cpu_ptr(site->head), struct nslice_ring_meta, head);
}

static __always_inline bool nsmod_has_room(struct nslice_ring_meta *ring, u64 head, u32 record_words)
{
	return (s32)(READ_ONCE(ring->limit) - ((u32)head + record_words)) >= 0;
}

/* Writes the record to its claimed place. */
static __always_inline void nsmod_fill(struct nslice_ring_meta *ring, u64 head, u64 ticks, u64 bits, const u64 *words, const u32 count)
{
	u64 *to = nsmod_unit_at(ring, head);
	u32 i;

	to[0] = ticks;
	for (i = 0; i < count; ++i)
		to[NSLICE_HEAD_WORDS + i] = words[i];
	/* pairs with the acquire in the drain's walk: a record with a kind is complete */
	smp_store_release(&to[1], bits | (u32)current->pid);
}

static __always_inline void nsmod_write_plain(struct nslice_kernel_site *site, const u64 *words, const u32 count)
{
	const u32 record_words = NSLICE_HEAD_WORDS + count;
	u64 bits = READ_ONCE(site->bits); /* once: the site may be turned off meanwhile */
	struct nslice_ring_meta *ring;
	u64 head, seen, ticks;

	if (unlikely(!bits)) {
		bits = nsmod_kernel_site_meet(site);
		if (!bits)
			return;
	}
	nsmod_writer_begin();
	ring = nsmod_ring_of(site);
	seen = READ_ONCE(ring->head);
	do {
		head = seen;
		while (unlikely(!nsmod_has_room(ring, head, record_words))) {
			if (!nsmod_make_room(ring, record_words))
				goto out;
			head = READ_ONCE(ring->head);
		}
		ticks = nsmod_clock();
		seen = nsmod_claim(&ring->head, head, head + NSLICE_POSITION_STEP(record_words));
	} while (unlikely(seen != head));
	nsmod_fill(ring, head, ticks, bits, words, count);
out:
	nsmod_writer_end();
}

/* Inlined into each caller, where `count` is a constant. */
static __always_inline void nsmod_write(struct nslice_kernel_site *site, const u64 *words, const u32 count)
{
	if (static_branch_unlikely(&nsmod_general_key))
		nsmod_write_general(site, words, count);
	else
		nsmod_write_plain(site, words, count);
}

#endif /* NSMOD_KERNEL_WRITE_H */
