/* SPDX-License-Identifier: GPL-2.0 */
/* A ring of a session or of the kernel, with the state of its drain: positions -> chunks. */
#ifndef NSMOD_DRAINED_RING_H
#define NSMOD_DRAINED_RING_H

#include <linux/types.h>

#include <nslice/file.h>
#include <nslice/gaps.h>
#include <nslice/ring.h>

struct nsmod_drained_ring;
struct nsmod_output;

/* Access to the data.  The caller masks positions and splits spans that wrap around. */
struct nsmod_ring_data_ops {
	int (*read)(const struct nsmod_drained_ring *ring, u64 offset, void *to, u64 bytes);
	int (*clear)(const struct nsmod_drained_ring *ring, u64 offset, u64 bytes);
};

struct nsmod_drained_ring {
	struct nslice_ring_meta *meta; /* of a session: not trusted */
	const struct nsmod_ring_data_ops *data;
	void *memory; /* of `data` */
	u64 ring_bytes;
	u32 cpu;
	u16 chunk_kind;  /* NSLICE_CHUNK_RECORDS or NSLICE_CHUNK_KERNEL_RECORDS */
	bool is_atomic;  /* records are published by their kind, released room is zeroed */
	bool is_overwrite;

	u64 head;      /* last seen */
	u64 tail;      /* records before it are drained */
	u64 committed; /* records committed since the drain began */
	u64 chunks;
	u64 drained;
	u64 lost_torn;
	u64 lost_overwritten; /* valid once settled */
	u64 lost_earlier[NSLICE_LOST_CAUSES]; /* reported in the trace of an earlier reader */
	struct nslice_gaps gaps;
};

/*
 * Records the head.  To be called at least once every 2^32 words, because
 * positions are ambiguous beyond that.
 */
void nsmod_ring_watch(struct nsmod_drained_ring *ring);

/*
 * Moves one chunk from the ring, up to the head last seen, to the output.
 * Returns the bytes taken, 0 if there are none, or -errno: -ENOSPC the output
 * is full, -EAGAIN the data were overwritten meanwhile (policy overwrite).
 * Policy discard releases the room; policy overwrite leaves the ring unchanged
 * and moves only the drain's own tail.
 */
s64 nsmod_ring_take(struct nsmod_drained_ring *ring, struct nsmod_output *output);

/*
 * Takes all chunks up to the head last seen; in the drain's thread.  Bytes
 * taken, or -errno as above; -EINTR: stop requested.
 */
s64 nsmod_ring_take_all(struct nsmod_drained_ring *ring, struct nsmod_output *output);

/*
 * After the last take, without writers: records left in the ring count as torn,
 * missing ones as overwritten.
 */
void nsmod_ring_settle(struct nsmod_drained_ring *ring);

/* The same for a ring that is still written to: records not taken do not belong to this drain. */
void nsmod_ring_settle_snapshot(struct nsmod_drained_ring *ring);

/* For the next reader: resets the counts, which belong to the previous reader. */
void nsmod_ring_begin_anew(struct nsmod_drained_ring *ring);

/* Records between the drain's tail and the head. */
u32 nsmod_ring_pending(const struct nsmod_drained_ring *ring);

void nsmod_ring_row(const struct nsmod_drained_ring *ring, struct nslice_file_footer_cpu *row);

#endif /* NSMOD_DRAINED_RING_H */
