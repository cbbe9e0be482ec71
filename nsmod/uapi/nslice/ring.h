/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* Ring layout: one meta page, then the data; mapped with the data twice in a row. */
#ifndef NSLICE_RING_H
#define NSLICE_RING_H

#ifndef __VMLINUX_H__ /* that of BPF programs has the same types */
#include <linux/types.h>
#endif

#include <nslice/record.h>

#define NSLICE_RING_MAGIC 0x676e726eu /* "nrng" in memory, little endian; also shows byte order */
#define NSLICE_RING_META_BYTES 4096

enum nslice_ring_kind {
	NSLICE_RING_RSEQ = 1,   /* committed by a restartable sequence: one store, no lock prefix */
	NSLICE_RING_ATOMIC = 2, /* reserved by compare-and-swap; a record with a kind is complete */
	NSLICE_RING_KERNEL = 3, /* written by nsmod, with the rules of the atomic kind */
};

enum nslice_ring_full {
	NSLICE_FULL_DISCARD = 0,   /* new records are lost if there is no room (default) */
	NSLICE_FULL_OVERWRITE = 1, /* the oldest records are overwritten: flight recorder */
};

/* Why a record is lost.  Every loss is counted under exactly one cause. */
enum nslice_lost {
	NSLICE_LOST_FULL = 0,        /* ring full, policy discard */
	NSLICE_LOST_OVERWRITTEN = 1, /* ring full, policy overwrite: replaced by a newer record */
	NSLICE_LOST_BUSY = 2,        /* atomic ring: another writer was making room */
	NSLICE_LOST_CLOSED = 3,      /* session was closing */
	NSLICE_LOST_WRITE = 4,       /* drained, but writing the file failed */
	NSLICE_LOST_TORN = 5,        /* atomic ring: the writer was killed before it was complete */
	NSLICE_LOST_CAUSES = 6,
	/*
	 * Not a loss, and in no total: records that were left out on request while the recorder
	 * had paused.  Only in rings.
	 */
	NSLICE_LEFT_OUT_PAUSED = 6,
};

/* nslice_ring_meta.closing: why records are refused. */
enum nslice_ring_refusal {
	NSLICE_RING_OPEN = 0,
	NSLICE_RING_CLOSING = 1, /* the session ends */
	NSLICE_RING_PAUSED = 2,  /* until its recorder continues */
};

/*
 * A position packs two counts into 64 bits so that one store commits both:
 *
 *	position = words + records * 2^32   (mod 2^64)
 *
 * where `words` is the number of 8-byte words ever written and `records` the
 * number of records.  The carry out of `words` is part of the definition: for
 * two positions of one ring less than 2^32 words apart, the low and high halves
 * of the difference are exactly the words and the records between them.
 */
#define NSLICE_POSITION_STEP(words) ((1ull << 32) + (words))
#define NSLICE_POSITION_WORDS(difference) ((__u32)(difference))
#define NSLICE_POSITION_RECORDS(difference) ((__u32)((difference) >> 32))

struct nslice_ring_meta {
	/* identity: written once, before the ring is shared */
	__u32 magic;       /* NSLICE_RING_MAGIC */
	__u16 abi_version; /* NSLICE_ABI_VERSION */
	__u16 kind;        /* enum nslice_ring_kind; set by the first writer */
	__u32 cpu;
	__u32 full;        /* enum nslice_ring_full */
	__u64 data_bytes;  /* power of two */
	__u32 closing;     /* enum nslice_ring_refusal; nonzero: records are refused */
	__u32 refusals;    /* how often it began to refuse records */
	__u64 owner;       /* rings of BPF programs, first CPU: who drains them (bpf_site.h) */
	__u64 reserved0[3];

	/* producer line: written only on the ring's own CPU (atomic kind: by any writer) */
	__u64 head;  /* position after the newest committed record */
	__u32 limit; /* low half of the position that a writer may pass only by the slow path */
	__u32 mask;  /* data words - 1 */
	__u64 reserved1[6];

	/* consumer line: position of the oldest record still in the ring */
	__u64 tail;
	__u64 reserved2[7];

	/* losses: atomic adds on the cold path only */
	__u64 lost[8]; /* indexed by enum nslice_lost */
};
NSLICE_ASSERT_SIZE(struct nslice_ring_meta, 256);

#endif /* NSLICE_RING_H */
