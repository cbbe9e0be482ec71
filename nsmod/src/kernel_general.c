// SPDX-License-Identifier: GPL-2.0
/*
 * A record between fences, with counters, or both.  Fences stand at the probe's
 * two ends, as in libnsprobe: neither the probe nor the code around it then runs
 * in the other's shadow.
 *
 * A counted record is made with interrupts off: its counts and its place in the
 * ring are of one moment.  What the probe itself counts must be the same at
 * every record, so what only some do (a site met for the first time, room to be
 * made, an NMI's record in between) is measured and comes off.  Every round of
 * the loop takes the same instructions from one reading to the next, so the
 * distance of two readings is what the probe executed for the round that failed.
 */
#include "kernel_general.h"

#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "kernel_counters.h"
#include "kernel_write.h"

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

/* Counters that run; 0 where one of them does not, and in an NMI, which may have met perf at work on them. */
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

/* again: all ones from the second round on, else 0.  No branch tells the rounds apart. */
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

/* A place for the record in *head.  1; 0: try again; -1: there is no room, the loss is counted. */
static __always_inline int claim(struct nslice_kernel_site *site, struct nslice_ring_meta *ring, u32 units, u64 *head, u64 *ticks)
{
	if (unlikely(!READ_ONCE(site->bits))) {
		nsmod_kernel_site_meet(site);
		return 0;
	}
	*head = READ_ONCE(ring->head);
	if (unlikely(!nsmod_has_room(ring, *head, units)))
		return nsmod_make_room(ring, units) ? 0 : -1;
	*ticks = nsmod_clock();
	return likely(nsmod_claim(&ring->head, *head, *head + NSLICE_POSITION_STEP(units)) == *head);
}

/* Interrupts are off. */
static __always_inline void write_counted(struct nslice_kernel_site *site, const u64 *given, u32 given_count)
{
	struct nsmod_cpu_counters *own = raw_cpu_ptr(&nsmod_counters);
	struct nslice_ring_meta *ring = nsmod_ring_of(site);
	u64 words[NSLICE_MAX_COUNTERS], before[NSLICE_MAX_COUNTERS] = {}, head, ticks, again = 0;
	const u32 count = counters_here(own);
	const bool is_slice = site->kind <= NSLICE_KIND_STOP;
	const u32 units = NSLICE_HEAD_UNITS + (is_slice ? count : given_count);
	int claimed;

	for (;;) {
		read_counters(own, count, words, before, again);
		claimed = claim(site, ring, units, &head, &ticks);
		if (likely(claimed))
			break;
		again = ~0ull;
		OPTIMIZER_HIDE_VAR(again);
	}
	if (unlikely(claimed < 0))
		return;
	if (is_slice)
		nsmod_fill(ring, head, ticks, READ_ONCE(site->bits) | (u64)count << 56, words, count);
	else
		nsmod_fill(ring, head, ticks, READ_ONCE(site->bits), given, given_count);
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
