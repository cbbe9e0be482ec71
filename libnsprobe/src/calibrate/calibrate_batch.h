/* SPDX-License-Identifier: MIT */
/* One batch: a calibration loop on a CPU's scratch ring -> duration in ticks, record values. */
#ifndef NSP_CALIBRATE_BATCH_H
#define NSP_CALIBRATE_BATCH_H

#include <stdint.h>

#include "calibrate_loops.h"
#include "session/shm.h"

/* Destination of the batches of one CPU. */
struct nsp_batch_ring {
    struct nslice_ring_meta *ring;
    uint64_t ring_bytes;
    uint64_t begin; /* position of the last batch */
};

struct nsp_batch_ring nsp_batch_ring(const struct nsp_shm_map *scratch, uint32_t cpu);

/* Ticks of `rounds` rounds; the calling thread is bound to the ring's CPU. */
uint64_t nsp_batch_run(struct nsp_batch_ring *ring, enum nsp_loop loop, uint32_t rounds);

/*
 * Mean STOP - START of word `field` (0: clock) over the last batch; 0 with *pairs == 0 if there are
 * no pairs.
 */
double nsp_batch_inside(const struct nsp_batch_ring *ring, uint32_t field, uint32_t *pairs);

/*
 * Mean difference of a counter between consecutive records of this kind, except across the loop's
 * own branch.
 */
double nsp_batch_distance(const struct nsp_batch_ring *ring, uint32_t wanted_kind, uint32_t field,
                          uint32_t *count);

#endif /* NSP_CALIBRATE_BATCH_H */
