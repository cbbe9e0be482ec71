// SPDX-License-Identifier: GPL-2.0
/* Ring -> chunks, as libnsprobe's drain.  Data are not trusted: copied before they are examined. */
#include "chunks/drained_ring.h"

#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/barrier.h>

#include <nslice/span.h>

#include "chunks/output.h"

/*
 * A chunk with its header fits into 256 KiB, which the allocator can provide
 * without rounding up.
 */
#define MAX_CHUNK_WORDS ((u32)((NSLICE_MAX_PAYLOAD_BYTES - PAGE_SIZE) / NSLICE_WORD_BYTES))

/*
 * Writers free an eighth of a ring at a time: after this many retries the drain
 * is too slow and gives up.
 */
#define MAX_RETRIES 64

static u32 ring_words(const struct nsmod_drained_ring *ring)
{
	return ring->ring_bytes / NSLICE_WORD_BYTES;
}

static u64 offset_of(const struct nsmod_drained_ring *ring, u64 position)
{
	return (u64)((u32)position & (ring_words(ring) - 1)) * NSLICE_WORD_BYTES;
}

/* Losses since the drain began. */
static u64 lost_by(const struct nsmod_drained_ring *ring, int cause)
{
	return READ_ONCE(ring->meta->lost[cause]) - ring->lost_earlier[cause];
}

/* Records that could not be written. */
static u64 refused_records(const struct nsmod_drained_ring *ring)
{
	u64 lost = 0;
	int cause;

	for (cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
		if (cause != NSLICE_LOST_OVERWRITTEN)
			lost += lost_by(ring, cause);
	return lost;
}

/* Records before the position that were overwritten: committed, but neither drained nor torn. */
static u64 overwritten_before(const struct nsmod_drained_ring *ring, u64 position)
{
	return ring->committed - NSLICE_POSITION_RECORDS(ring->head - position) - ring->drained - ring->lost_torn;
}

void nsmod_ring_watch(struct nsmod_drained_ring *ring)
{
	/*
	 * pairs with the writer's commit: records before the head are complete,
	 * or their kind shows whether they are
	 */
	const u64 head = smp_load_acquire(&ring->meta->head);

	ring->committed += NSLICE_POSITION_RECORDS(head - ring->head);
	ring->head = head;
}

u32 nsmod_ring_pending(const struct nsmod_drained_ring *ring)
{
	return NSLICE_POSITION_RECORDS(ring->head - ring->tail);
}

static int copy_out(const struct nsmod_drained_ring *ring, u64 position, u32 words, u64 *to)
{
	const u64 offset = offset_of(ring, position), bytes = (u64)words * NSLICE_WORD_BYTES;
	const u64 first = min(bytes, ring->ring_bytes - offset);
	int err = ring->data->read(ring, offset, to, first);

	if (!err && first < bytes)
		err = ring->data->read(ring, 0, (void *)to + first, bytes - first);
	return err;
}

static int clear(const struct nsmod_drained_ring *ring, u64 position, u32 words)
{
	const u64 offset = offset_of(ring, position), bytes = (u64)words * NSLICE_WORD_BYTES;
	const u64 first = min(bytes, ring->ring_bytes - offset);
	int err = ring->data->clear(ring, offset, first);

	if (!err && first < bytes)
		err = ring->data->clear(ring, 0, bytes - first);
	return err;
}

/*
 * Releases the room of the span.  With policy overwrite the drain only reads
 * and moves its own tail.
 */
static int consume(struct nsmod_drained_ring *ring, struct nslice_span span, u64 *head)
{
	const u64 step = ((u64)span.records << 32) + span.words;
	int err = 0;

	/* pairs with the writer's commit, as in nsmod_ring_watch() */
	*head = smp_load_acquire(&ring->meta->head);
	if (!ring->is_overwrite && ring->is_atomic)
		err = clear(ring, ring->tail, span.words);
	if (err)
		return err;
	ring->tail += step;
	if (!ring->is_overwrite) {
		/*
		 * pairs with the acquire of the writer that makes room: the
		 * data are read before the room is released
		 */
		smp_store_release(&ring->meta->tail, ring->tail);
	}
	return 0;
}

/*
 * With policy overwrite, writers move the tail, and records before it are lost.
 * It may have passed the head last seen, and a drain's own tail that has not
 * moved for long is ambiguous.  A tail that is not within the ring is ignored.
 */
static void follow_tail(struct nsmod_drained_ring *ring)
{
	/* pairs with the writer's exchange of the tail: the head that it saw is visible here */
	const u64 tail = smp_load_acquire(&ring->meta->tail);
	const u32 pending = NSLICE_POSITION_WORDS(ring->head - ring->tail);
	const s32 left = NSLICE_POSITION_WORDS(ring->head - tail);

	if (left < 0)
		ring->tail = ring->head;
	else if (left <= ring_words(ring) && (pending > ring_words(ring) || left < pending))
		ring->tail = tail;
}

/* Copied data are valid only if no writer has overwritten them meanwhile. */
static bool is_still_there(struct nsmod_drained_ring *ring)
{
	const u64 before = ring->tail;

	smp_rmb(); /* pairs with the exchange that moves the tail before the data are overwritten */
	follow_tail(ring);
	return ring->tail == before;
}

static void fill_header(const struct nsmod_drained_ring *ring, struct nslice_span span, const u64 *data,
			struct nslice_chunk_header *header)
{
	memset(header, 0, sizeof(*header));
	header->kind = ring->chunk_kind;
	header->sequence = ring->chunks;
	header->cpu = ring->cpu;
	header->records = span.records;
	header->lost_before = ring->gaps.passed + overwritten_before(ring, ring->tail) + ring->lost_torn;
	header->first_ticks = data[0];
}

static s64 take_into(struct nsmod_drained_ring *ring, struct nsmod_output *output, struct nsmod_chunk *chunk, u32 words)
{
	u64 *data = nsmod_chunk_payload(chunk);
	struct nslice_chunk_header header;
	struct nslice_span span;
	u64 head;
	int err = copy_out(ring, ring->tail, words, data);

	if (err)
		return err;
	if (ring->is_overwrite && !is_still_there(ring))
		return -EAGAIN;
	span = nslice_span_walk(data, words, words, ring->is_atomic);
	if (span.words == 0)
		return 0;
	fill_header(ring, span, data, &header);
	err = consume(ring, span, &head);
	if (err)
		return err;
	++ring->chunks;
	ring->drained += span.records;
	nslice_gaps_note(&ring->gaps, refused_records(ring), head);
	nsmod_output_add(output, chunk, &header, span.words * NSLICE_WORD_BYTES);
	return span.words * NSLICE_WORD_BYTES;
}

s64 nsmod_ring_take(struct nsmod_drained_ring *ring, struct nsmod_output *output)
{
	struct nsmod_chunk *chunk;
	u64 limit;
	u32 words;
	s64 taken;

	if (ring->is_overwrite)
		follow_tail(ring);
	/* A head outside the ring is hostile; there is nothing to take. */
	if (NSLICE_POSITION_WORDS(ring->head - ring->tail) > ring_words(ring))
		return 0;
	limit = nslice_gaps_limit(&ring->gaps, ring->tail, ring->head);
	words = min(NSLICE_POSITION_WORDS(limit - ring->tail), MAX_CHUNK_WORDS);
	if (words < NSLICE_HEAD_WORDS)
		return 0;
	chunk = nsmod_output_chunk(output, words * NSLICE_WORD_BYTES);
	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	taken = take_into(ring, output, chunk, words);
	if (taken <= 0)
		nsmod_output_drop(chunk);
	return taken;
}

s64 nsmod_ring_take_all(struct nsmod_drained_ring *ring, struct nsmod_output *output)
{
	u32 retries = MAX_RETRIES;
	s64 all = 0, taken;

	do {
		taken = nsmod_ring_take(ring, output);
		all += taken > 0 ? taken : 0;
		if (taken == -EAGAIN && --retries == 0) {
			ring->tail = ring->head;
			taken = 0;
		}
		cond_resched();
		if (kthread_should_stop()) /* a hostile ring may never end */
			return -EINTR;
	} while (taken > 0 || taken == -EAGAIN);
	return taken < 0 ? taken : all;
}

void nsmod_ring_settle(struct nsmod_drained_ring *ring)
{
	ring->lost_torn += nsmod_ring_pending(ring);
	ring->tail = ring->head;
	if (ring->is_overwrite)
		ring->lost_overwritten = overwritten_before(ring, ring->head);
}

void nsmod_ring_settle_snapshot(struct nsmod_drained_ring *ring)
{
	ring->committed -= nsmod_ring_pending(ring);
	ring->head = ring->tail;
	ring->lost_overwritten = overwritten_before(ring, ring->head);
}

void nsmod_ring_begin_anew(struct nsmod_drained_ring *ring)
{
	int cause;

	ring->head = ring->tail;
	ring->committed = 0;
	ring->chunks = 0;
	ring->drained = 0;
	ring->lost_torn = 0;
	ring->lost_overwritten = 0;
	memset(&ring->gaps, 0, sizeof(ring->gaps));
	for (cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
		ring->lost_earlier[cause] = READ_ONCE(ring->meta->lost[cause]);
}

void nsmod_ring_row(const struct nsmod_drained_ring *ring, struct nslice_file_footer_cpu *row)
{
	int cause;

	memset(row, 0, sizeof(*row));
	row->cpu = ring->cpu;
	row->chunks = ring->chunks;
	row->drained = ring->drained;
	for (cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
		row->lost[cause] = lost_by(ring, cause);
	row->lost[NSLICE_LOST_TORN] += ring->lost_torn;
	if (ring->is_overwrite)
		row->lost[NSLICE_LOST_OVERWRITTEN] = ring->lost_overwritten;
	row->issued = ring->committed + row->lost[NSLICE_LOST_FULL] + row->lost[NSLICE_LOST_BUSY] + row->lost[NSLICE_LOST_CLOSED];
}
