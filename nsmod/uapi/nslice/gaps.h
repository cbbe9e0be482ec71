/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* Gaps: losses of a ring, when noticed -> the positions between records where they happened. */
#ifndef NSLICE_GAPS_H
#define NSLICE_GAPS_H

#include <linux/types.h>

#include <nslice/ring.h>

#define NSLICE_MAX_GAPS 64

struct nslice_gap {
	__u64 position; /* of the first record after the loss */
	__u64 lost;	 /* records lost before it, since the ring was created */
};

struct nslice_gaps {
	__u64 noted;  /* losses that are or were in the list */
	__u64 passed; /* losses before the tail */
	__u32 count;
	struct nslice_gap list[NSLICE_MAX_GAPS];
};

/*
 * Call after each release of room, with the head before the release.  Records
 * are refused when the ring is full, and then the head stays there until the
 * release (except for smaller records that still fit).  The list has room for
 * 64 releases that each left a gap; further gaps are merged.
 */
static inline void nslice_gaps_note(struct nslice_gaps *gaps, __u64 lost, __u64 head)
{
	if (lost == gaps->noted)
		return;
	gaps->noted = lost;
	if (gaps->count == NSLICE_MAX_GAPS || (gaps->count > 0 && gaps->list[gaps->count - 1].position == head))
		--gaps->count;
	gaps->list[gaps->count].position = head;
	gaps->list[gaps->count++].lost = lost;
}

/* Where a chunk that begins at tail must end: at the next gap, or at head. */
static inline __u64 nslice_gaps_limit(struct nslice_gaps *gaps, __u64 tail, __u64 head)
{
	__u32 i;

	/* Under policy overwrite the tail may have been moved past a gap. */
	while (gaps->count > 0 && (__s32)NSLICE_POSITION_WORDS(gaps->list[0].position - tail) <= 0) {
		gaps->passed = gaps->list[0].lost;
		--gaps->count;
		for (i = 0; i < gaps->count; ++i)
			gaps->list[i] = gaps->list[i + 1];
	}
	if (gaps->count > 0 &&
	    NSLICE_POSITION_WORDS(gaps->list[0].position - tail) < NSLICE_POSITION_WORDS(head - tail))
		return gaps->list[0].position;
	return head;
}

#endif /* NSLICE_GAPS_H */
