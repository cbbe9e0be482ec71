/* SPDX-License-Identifier: MIT */
/* Gaps: losses of a ring, as they are noticed -> the positions between two records at which they happened. */
#ifndef NSP_GAPS_H
#define NSP_GAPS_H

#include <stdint.h>

#include <nslice/ring.h>

#define NSP_MAX_GAPS 64

struct nsp_gap {
    uint64_t position; /* of the first record after the loss */
    uint64_t lost;     /* records lost before it, since the ring began */
};

struct nsp_gaps {
    uint64_t noted;  /* losses that have a place in the list, or had */
    uint64_t passed; /* losses before the tail */
    uint32_t count;
    struct nsp_gap list[NSP_MAX_GAPS];
};

/*
 * Call after each release of room with the head as it was before: records are
 * refused where the ring is full, and there the head stands until the release
 * (give or take a smaller record that still fitted).  One list is enough for
 * 64 releases that all left a gap; more are put together.
 */
static inline void nsp_gaps_note(struct nsp_gaps *gaps, uint64_t lost, uint64_t head)
{
    if (lost == gaps->noted)
        return;
    gaps->noted = lost;
    if (gaps->count == NSP_MAX_GAPS || (gaps->count > 0 && gaps->list[gaps->count - 1].position == head))
        --gaps->count;
    gaps->list[gaps->count++] = (struct nsp_gap){head, lost};
}

/* Where a chunk that begins at tail must end: at the next gap, or at head. */
static inline uint64_t nsp_gaps_limit(struct nsp_gaps *gaps, uint64_t tail, uint64_t head)
{
    /* Under policy overwrite the tail may have been moved past a gap. */
    while (gaps->count > 0 && (int32_t)NSLICE_POSITION_UNITS(gaps->list[0].position - tail) <= 0) {
        gaps->passed = gaps->list[0].lost;
        --gaps->count;
        for (uint32_t i = 0; i < gaps->count; ++i)
            gaps->list[i] = gaps->list[i + 1];
    }
    if (gaps->count > 0 &&
        NSLICE_POSITION_UNITS(gaps->list[0].position - tail) < NSLICE_POSITION_UNITS(head - tail))
        return gaps->list[0].position;
    return head;
}

#endif /* NSP_GAPS_H */
