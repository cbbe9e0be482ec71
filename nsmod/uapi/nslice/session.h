/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* Session memory: one file with settings, announcements and the rings of all CPUs. */
#ifndef NSLICE_SESSION_H
#define NSLICE_SESSION_H

#include <linux/types.h>

#include <nslice/ring.h>
#include <nslice/rules.h>

/*
 *	header             struct nslice_session
 *	announcements      an append-only log
 *	meta page, data    CPU 0
 *	meta page, data    CPU 1 ...
 *
 * Shared by the writing processes and the drain, which is another process or
 * nsmod.  Sparse: untouched pages cost nothing.  Created by a process as a
 * sealed memory file, or by nsmod and mapped from its device; the layout is the
 * same.  Processes map each ring's data twice in a row.
 *
 * NSLICE_SESSION_VERSION counts incompatible changes.
 */
#define NSLICE_SESSION_MAGIC 0x6d68736eu /* "nshm" in memory, little endian */
#define NSLICE_SESSION_VERSION 2
#define NSLICE_SESSION_HEADER_BYTES 4096
#define NSLICE_SESSION_ANNOUNCE_BYTES (64ull << 20)
#define NSLICE_SESSION_RINGS_OFFSET (NSLICE_SESSION_HEADER_BYTES + NSLICE_SESSION_ANNOUNCE_BYTES)
#define NSLICE_SESSION_COUNTERS_TEXT 256
#define NSLICE_SESSION_SLICES_TEXT NSLICE_RULES_TEXT

#define NSLICE_MIN_RING_BYTES 4096ull
#define NSLICE_MAX_RING_BYTES (8ull << 30) /* a quarter of 2^32 words: differences stay signed */
#define NSLICE_MAX_CPUS 65536u

/* Offset of a CPU's meta page in the file; its data follow. */
#define NSLICE_SESSION_RING_OFFSET(cpu, ring_bytes) \
	(NSLICE_SESSION_RINGS_OFFSET + (__u64)(cpu) * (NSLICE_RING_META_BYTES + (ring_bytes)))
#define NSLICE_SESSION_BYTES(cpus, ring_bytes) NSLICE_SESSION_RING_OFFSET(cpus, ring_bytes)

struct nslice_session {
	__u32 magic;
	__u32 version;
	__u32 cpus;
	__u32 clock; /* 0 fast, 1 ordered */
	__u32 full;  /* enum nslice_ring_full */
	__u32 source; /* enum nsp_counter_source: used only by processes */
	__u32 step_every;
	__u32 no_calibration;
	__u64 ring_bytes;

	/* changed by atomic operations while the session runs */
	__u32 ring_kind; /* enum nslice_ring_kind; set by the first process */
	__u32 next_slice_id;
	__u32 joined;  /* processes that have ever joined */
	__u32 refused; /* processes that could not take part; `refusal` has the last reason */
	__u32 dropped_sites;
	__u32 thin_permille; /* share of epochs in which probes are off at random; 0: none */
	__u64 announce_tail; /* bytes claimed in the announcement log */
	__u64 dropped_announcements;
	char counters[NSLICE_SESSION_COUNTERS_TEXT];
	char refusal[512];
	char memory_reason[256]; /* why the memory is not nsmod's; empty if it is */
	char slices[NSLICE_SESSION_SLICES_TEXT]; /* rules for the slices to record; empty: all */
	__u32 control; /* processes that join accept control requests */
	__u32 reserved;
};
NSLICE_ASSERT_SIZE(struct nslice_session, 2136);

/* One announcement; the payload of a chunk follows, padded to 8 bytes. */
struct nslice_announcement {
	__u32 bytes; /* of the payload; stored first, so that readers can skip it */
	__u16 kind;  /* enum nslice_chunk_kind */
	__u16 ready; /* 1 once the payload is complete */
};
NSLICE_ASSERT_SIZE(struct nslice_announcement, 8);

#define NSLICE_ANNOUNCEMENT_BYTES(payload_bytes) \
	(sizeof(struct nslice_announcement) + (((__u64)(payload_bytes) + 7) & ~7ull))

#endif /* NSLICE_SESSION_H */
