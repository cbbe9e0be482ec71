/* SPDX-License-Identifier: MIT */
/* One batch: a calibration loop on a CPU's scratch ring -> duration in ticks, record values. */
#include "calibrate_batch.h"

#include <string.h>

#include "drain/ring_read.h"
#include "work.h"

struct nsp_batch_ring nsp_batch_ring(const struct nsp_shm_map *scratch, uint32_t cpu)
{
    return (struct nsp_batch_ring){nsp_shm_ring(scratch, cpu), scratch->shm->ring_bytes, 0};
}

/*
 * Makes room for a batch after the previous one.  The batches cycle through the ring
 * like a session's records: staying in the first-level cache would make probes look
 * cheaper than they are.
 */
static void advance(struct nsp_batch_ring *at)
{
    struct nslice_ring_meta *const ring = at->ring;

    if (ring->kind == NSLICE_RING_ATOMIC)
        memset((void *)nsp_ring_data(ring, at->ring_bytes, at->begin), 0,
               (size_t)NSLICE_POSITION_WORDS(ring->head - at->begin) * NSLICE_WORD_BYTES);
    at->begin = ring->head;
    ring->tail = ring->head;
    ring->limit = (uint32_t)ring->head + ring->mask + 1;
}

uint64_t nsp_batch_run(struct nsp_batch_ring *ring, enum nsp_loop loop, uint32_t rounds)
{
    advance(ring);
    return nsp_run_loop(loop, rounds);
}

struct batch_records {
    const uint64_t *at, *end;
};

static struct batch_records last_batch(const struct nsp_batch_ring *ring)
{
    const uint64_t *at = nsp_ring_data(ring->ring, ring->ring_bytes, ring->begin);

    return (struct batch_records){at, at + NSLICE_POSITION_WORDS(ring->ring->head - ring->begin)};
}

double nsp_batch_inside(const struct nsp_batch_ring *ring, uint32_t field, uint32_t *pairs)
{
    const struct batch_records batch = last_batch(ring);
    const uint64_t *at = batch.at, *end = batch.end, *start = NULL;
    double sum = 0;

    *pairs = 0;
    while (at < end) {
        const uint32_t kind = NSLICE_RECORD_KIND(at[1]);
        const uint32_t words = NSLICE_RECORD_WORDS(at[1]) - NSLICE_HEAD_WORDS;
        const uint32_t word = field ? NSLICE_HEAD_WORDS + field - 1 : 0;

        if (kind == NSLICE_KIND_START)
            start = field == 0 || words >= field ? at : NULL;
        else if (kind == NSLICE_KIND_STOP && start && (field == 0 || words >= field)) {
            sum += (double)(at[word] - start[word]);
            ++*pairs;
        }
        at += NSLICE_HEAD_WORDS + words;
    }
    return *pairs ? sum / *pairs : 0;
}

double nsp_batch_distance(const struct nsp_batch_ring *ring, uint32_t wanted_kind, uint32_t field,
                          uint32_t *count)
{
    const struct batch_records batch = last_batch(ring);
    const uint64_t *at = batch.at, *end = batch.end, *before = NULL;
    uint32_t seen = 0;
    double sum = 0;

    *count = 0;
    while (at < end) {
        const uint32_t kind = NSLICE_RECORD_KIND(at[1]);
        const uint32_t words = NSLICE_RECORD_WORDS(at[1]) - NSLICE_HEAD_WORDS;

        if (kind == wanted_kind && words >= field) {
            if (before && seen % NSP_LOOP_UNROLLED != 0) {
                sum += (double)(at[NSLICE_HEAD_WORDS + field - 1] -
                                before[NSLICE_HEAD_WORDS + field - 1]);
                ++*count;
            }
            before = at;
            ++seen;
        }
        at += NSLICE_HEAD_WORDS + words;
    }
    return *count ? sum / *count : 0;
}
