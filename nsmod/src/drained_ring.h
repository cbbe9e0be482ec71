/* SPDX-License-Identifier: GPL-2.0 */
/* A ring, of a session or of the kernel, and what its drain knows of it: positions -> chunks. */
#ifndef NSMOD_DRAINED_RING_H
#define NSMOD_DRAINED_RING_H

#include <linux/types.h>

#include <nslice/file.h>
#include <nslice/gaps.h>
#include <nslice/ring.h>

struct nsmod_drained_ring;
struct nsmod_output;

/* How the data are reached.  Positions are masked by the caller; a stretch may end behind the ring's end and go on at its start. */
struct nsmod_ring_data_ops {
	int (*read)(const struct nsmod_drained_ring *ring, u64 offset, void *to, u64 bytes);
	int (*clear)(const struct nsmod_drained_ring *ring, u64 offset, u64 bytes);
};

struct nsmod_drained_ring {
	struct nslice_ring_meta *meta; /* of a session: hostile */
	const struct nsmod_ring_data_ops *data;
	void *memory; /* of `data` */
	u64 ring_bytes;
	u32 cpu;
	u16 chunk_kind;  /* NSLICE_CHUNK_RECORDS or NSLICE_CHUNK_KERNEL_RECORDS */
	bool is_atomic;  /* records show by their kind, room is given back zeroed */
	bool is_overwrite;

	u64 head;      /* last seen */
	u64 tail;      /* up to where records are drained */
	u64 committed; /* records the ring took since the drain began */
	u64 chunks;
	u64 drained;
	u64 lost_torn;
	u64 lost_overwritten; /* once it is settled */
	u64 lost_earlier[NSLICE_LOST_CAUSES]; /* told by the trace of a reader that was there before */
	struct nslice_gaps gaps;
};

/* Takes note of the head.  At least once every 2^32 units, or positions tell nothing. */
void nsmod_ring_watch(struct nsmod_drained_ring *ring);

/*
 * One chunk out of the ring, up to the head last seen, into the output.  Bytes taken, 0: nothing there, or
 * -errno: -ENOSPC the output is full, -EAGAIN a writer of policy overwrite was there first.  Policy discard
 * gives the room back; overwrite leaves the ring as it is and moves the drain's own tail.
 */
s64 nsmod_ring_take(struct nsmod_drained_ring *ring, struct nsmod_output *output);

/* Chunks until there is none up to the head last seen.  In the drain's thread.  Bytes taken, or -errno as above; -EINTR: it is to stop. */
s64 nsmod_ring_take_all(struct nsmod_drained_ring *ring, struct nsmod_output *output);

/* After the last take of a ring that nobody writes to any more: what is left there counts as torn, what is nowhere as overwritten. */
void nsmod_ring_settle(struct nsmod_drained_ring *ring);

/* The same for a ring that may go on: what is not taken is not of this drain. */
void nsmod_ring_settle_snapshot(struct nsmod_drained_ring *ring);

/* For the next reader: what has been taken, or lost so far, was another's. */
void nsmod_ring_begin_anew(struct nsmod_drained_ring *ring);

/* Records behind the drain's tail. */
u32 nsmod_ring_pending(const struct nsmod_drained_ring *ring);

void nsmod_ring_row(const struct nsmod_drained_ring *ring, struct nslice_file_footer_cpu *row);

#endif /* NSMOD_DRAINED_RING_H */
