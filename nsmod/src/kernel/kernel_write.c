// SPDX-License-Identifier: GPL-2.0
/* Slow path of the kernel's writer, as in libnsprobe's atomic rings: makes room or counts losses. */
#include "kernel/kernel_write.h"

#include <linux/atomic.h>

static void count_loss(struct nslice_ring_meta *ring, enum nslice_lost cause, u32 records)
{
	/* Atomic, because interrupts also count losses, and on arm64 another CPU may. */
	atomic64_add(records, (atomic64_t *)&ring->lost[cause]);
}

/*
 * Walks over the oldest records until an eighth of the ring is free.  With
 * concurrent writers, the first exchange wins.
 */
static u64 oldest_span(struct nslice_ring_meta *ring, u64 tail, u64 available)
{
	const u32 want = (ring->mask + 1) / 8;
	u64 step = 0;

	while (NSLICE_POSITION_WORDS(step) < want && NSLICE_POSITION_WORDS(step) < NSLICE_POSITION_WORDS(available)) {
		/* pairs with the commit, which releases this word when the record is complete */
		const u64 word = smp_load_acquire(&nsmod_unit_at(ring, tail + step)[1]);

		if (NSLICE_RECORD_KIND(word) == 0)
			break;
		step += NSLICE_POSITION_STEP(NSLICE_RECORD_WORDS(word));
	}
	return step;
}

/*
 * Policy overwrite.  True: the tail has moved; false: the oldest record is
 * incomplete, or room is being zeroed.
 */
static bool drop_oldest(struct nslice_ring_meta *ring, u64 tail, u64 head)
{
	u32 limit = (u32)tail + ring->mask + 1;
	u64 step, before = tail, *unit;
	u32 i;

	/*
	 * pairs with the exchange below: the writer that moved the tail before
	 * has zeroed the room
	 */
	if (smp_load_acquire(&ring->limit) != limit)
		return false;
	step = oldest_span(ring, tail, head - tail);
	if (step == 0)
		return false;
	if (!try_cmpxchg(&ring->tail, &before, tail + step))
		return true;
	count_loss(ring, NSLICE_LOST_OVERWRITTEN, NSLICE_POSITION_RECORDS(step));
	unit = nsmod_unit_at(ring, tail);
	for (i = 0; i < NSLICE_POSITION_WORDS(step); ++i)
		WRITE_ONCE(unit[i], 0);
	/* By exchange, to keep the limit if the ring was closed meanwhile. */
	cmpxchg(&ring->limit, limit, limit + NSLICE_POSITION_WORDS(step));
	return true;
}

int nsmod_make_room(struct nslice_ring_meta *ring, u32 record_words)
{
	for (;;) {
		/* pairs with the release in the drain: what lies before the tail is zero and may be written */
		const u64 tail = smp_load_acquire(&ring->tail);
		const u64 head = READ_ONCE(ring->head);
		const u32 limit = (u32)tail + ring->mask + 1, before = READ_ONCE(ring->limit);

		if (READ_ONCE(ring->closing)) {
			count_loss(ring, NSLICE_LOST_CLOSED, 1);
			return 0;
		}
		if ((s32)(limit - ((u32)head + record_words)) >= 0) {
			if (ring->full == NSLICE_FULL_DISCARD) {
				cmpxchg(&ring->limit, before, limit);
				return 1;
			}
			/* The limit is advanced after zeroing, only by the writer that zeroes. */
			if ((s32)(smp_load_acquire(&ring->limit) - ((u32)head + record_words)) >= 0)
				return 1;
			count_loss(ring, NSLICE_LOST_BUSY, 1);
			return 0;
		}
		if (ring->full == NSLICE_FULL_DISCARD) {
			count_loss(ring, NSLICE_LOST_FULL, 1);
			return 0;
		}
		if (!drop_oldest(ring, tail, head)) {
			count_loss(ring, NSLICE_LOST_BUSY, 1);
			return 0;
		}
	}
}
