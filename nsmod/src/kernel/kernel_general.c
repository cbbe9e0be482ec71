// SPDX-License-Identifier: GPL-2.0
/*
 * Records with fences, counters, or both.  Fences are at both ends of the probe,
 * as in libnsprobe, so that the probe and the code around it do not overlap.
 *
 * A counted record is written with interrupts off, so that its counts and its
 * position in the ring belong to the same moment.  The part of the probe that is
 * counted must be the same in every record, so extra work in some records (first
 * use of a site, making room, an NMI's record in between) is measured and
 * subtracted.  Every round of the loop executes the same instructions between
 * readings, so the difference of two readings is the cost of the failed round.
 */
#include "kernel/kernel_general.h"

#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "counters/kernel_counters.h"
#include "kernel/kernel_write.h"

DEFINE_STATIC_KEY_FALSE(nsmod_general_key);
static bool is_fencing, is_counting;

void nsmod_general_begin(bool is_ordered, bool is_counted)
{
	is_fencing = is_ordered;
	is_counting = is_counted;
	if (is_ordered || is_counted)
		static_branch_enable(&nsmod_general_key);
}

void nsmod_general_end(void)
{
	static_branch_disable(&nsmod_general_key);
}

/*
 * Number of counters; 0 if one of them does not run, and in an NMI, which may
 * have interrupted perf while it updates them.
 */
static __always_inline u32 counters_here(struct nsmod_cpu_counters *own)
{
	const u32 count = READ_ONCE(own->count);
	u32 i;

	if (in_nmi())
		return 0;
	for (i = 0; i < count; ++i)
		if (!nsmod_counter_runs(&own->of[i]))
			return 0;
	return count;
}

/* again: all ones from the second round on, else 0, so that rounds do not differ by a branch. */
static __always_inline void read_counters(struct nsmod_cpu_counters *own, u32 count, u64 *words, u64 *before, u64 again)
{
	u32 i;

	for (i = 0; i < count; ++i)
		words[i] = nsmod_counter_total(&own->of[i]);
	for (i = 0; i < count; ++i) {
		own->of[i].detour += (words[i] - before[i]) & again;
		before[i] = words[i];
		words[i] -= own->of[i].detour;
	}
}

/*
 * Claims a place for the record, returned in *head, with the site's bits.  1; 0: try again;
 * -1: no record, because the site is off, or because there is no room, a loss that is counted.
 */
static __always_inline int claim(struct nslice_kernel_site *site, struct nslice_ring_meta *ring, u32 record_words, u64 *bits, u64 *head,
				 u64 *ticks)
{
	*bits = READ_ONCE(site->bits); /* once: the site may be turned off meanwhile */
	if (unlikely(!*bits))
		return nsmod_kernel_site_meet(site) ? 0 : -1;
	*head = READ_ONCE(ring->head);
	if (unlikely(!nsmod_has_room(ring, *head, record_words)))
		return nsmod_make_room(ring, record_words) ? 0 : -1;
	*ticks = nsmod_clock();
	return likely(nsmod_claim(&ring->head, *head, *head + NSLICE_POSITION_STEP(record_words)) == *head);
}

/* Called with interrupts off. */
static __always_inline void write_counted(struct nslice_kernel_site *site, const u64 *given, u32 given_count)
{
	struct nsmod_cpu_counters *own = raw_cpu_ptr(&nsmod_counters);
	struct nslice_ring_meta *ring = nsmod_ring_of(site);
	u64 words[NSLICE_MAX_COUNTERS], before[NSLICE_MAX_COUNTERS] = {}, bits, head, ticks, again = 0;
	const u32 count = counters_here(own);
	const bool is_slice = site->kind <= NSLICE_KIND_STOP;
	const u32 record_words = NSLICE_HEAD_WORDS + (is_slice ? count : given_count);
	int claimed;

	for (;;) {
		read_counters(own, count, words, before, again);
		claimed = claim(site, ring, record_words, &bits, &head, &ticks);
		if (likely(claimed))
			break;
		again = ~0ull;
		OPTIMIZER_HIDE_VAR(again);
	}
	if (unlikely(claimed < 0))
		return;
	if (is_slice)
		nsmod_fill(ring, head, ticks, bits | (u64)count << NSLICE_HEAD_COUNT_SHIFT, words, count);
	else
		nsmod_fill(ring, head, ticks, bits, given, given_count);
}

notrace void nsmod_write_general(struct nslice_kernel_site *site, const u64 *words, u32 count)
{
	unsigned long flags;

	if (is_fencing)
		nsmod_fence();
	if (is_counting) {
		raw_local_irq_save(flags);
		write_counted(site, words, count);
		raw_local_irq_restore(flags);
	} else {
		nsmod_write_plain(site, words, count);
	}
	if (is_fencing)
		nsmod_fence();
}
