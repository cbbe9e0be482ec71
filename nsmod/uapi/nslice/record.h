/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* Record layout: the same bytes in a kernel ring, a user ring and a trace file. */
#ifndef NSLICE_RECORD_H
#define NSLICE_RECORD_H

#ifndef __VMLINUX_H__ /* that of BPF programs has the same types */
#include <linux/types.h>
#endif

/*
 * NSLICE_ABI_VERSION covers record.h and ring.h.  Within a version, kinds and
 * flags may be added if readers can skip unknown ones; sizes, offsets and
 * meanings never change.
 */
#define NSLICE_ABI_VERSION 1

#ifdef __cplusplus
#define NSLICE_ASSERT_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), "ABI size")
#else
#define NSLICE_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "ABI size")
#endif

/* Kind of a record, with the words that follow its head. */
enum nslice_kind {
	NSLICE_KIND_START = 1, /* slice begins; words: one value per counter of the session */
	NSLICE_KIND_STOP = 2,  /* slice ends; words: as START */
	NSLICE_KIND_MARK = 3,  /* words[0]: the value */
	NSLICE_KIND_INIT = 4,  /* unit begins; words: number, packet count, wire bytes */
	NSLICE_KIND_EXIT = 5,  /* unit ends; no words */
};

#define NSLICE_MAX_WORDS 6
#define NSLICE_MAX_COUNTERS NSLICE_MAX_WORDS
#define NSLICE_INIT_WORDS 3
#define NSLICE_MARK_WORDS 1

/*
 *  63                                                             0
 * +----------------------------------------------------------------+
 * |                             ticks                              |
 * +--------+--------+----------------+-----------------------------+
 * | words  |  kind  |    slice_id    |          thread_id          |
 * +--------+--------+----------------+-----------------------------+
 * |                      words * 64 bits follow                    |
 *
 * A head whose kind is 0 is memory that no writer has completed yet.
 */
struct nslice_record_head {
	__u64 ticks;     /* clock of the session, e.g. TSC */
	__u32 thread_id; /* kernel thread id of the writer */
	__u16 slice_id;  /* index into the session's site table, 0: site not registered */
	__u8 kind;       /* enum nslice_kind */
	__u8 words;      /* number of 64-bit words that follow, at most NSLICE_MAX_WORDS */
};
NSLICE_ASSERT_SIZE(struct nslice_record_head, 16);

/* Rings and files count in words of 8 bytes: every record is a whole number of words. */
#define NSLICE_WORD_BYTES 8
#define NSLICE_HEAD_WORDS 2
#define NSLICE_MAX_RECORD_WORDS (NSLICE_HEAD_WORDS + NSLICE_MAX_WORDS)

/* Where the fields of the head's second word are.  The mask of the count bounds what a malformed head can claim. */
#define NSLICE_HEAD_SLICE_SHIFT 32
#define NSLICE_HEAD_KIND_SHIFT 48
#define NSLICE_HEAD_KIND_MASK 0xff
#define NSLICE_HEAD_COUNT_SHIFT 56
#define NSLICE_HEAD_COUNT_MASK 7

/* Words of a record, head included, and its kind; second: the second word of its head. */
#define NSLICE_RECORD_WORDS(second) \
	(NSLICE_HEAD_WORDS + (__u32)((second) >> NSLICE_HEAD_COUNT_SHIFT & NSLICE_HEAD_COUNT_MASK))
#define NSLICE_RECORD_KIND(second) ((__u32)((second) >> NSLICE_HEAD_KIND_SHIFT & NSLICE_HEAD_KIND_MASK))

#endif /* NSLICE_RECORD_H */
