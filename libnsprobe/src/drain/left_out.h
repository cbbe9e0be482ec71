/* SPDX-License-Identifier: MIT */
/* Rings of a session -> records that were left out while the recorder had paused. */
#ifndef NSP_LEFT_OUT_H
#define NSP_LEFT_OUT_H

#include <stdint.h>

#include "session/shm.h"

static inline uint64_t nsp_ring_left_out(const struct nslice_ring_meta *ring)
{
    return __atomic_load_n(&ring->lost[NSLICE_LEFT_OUT_PAUSED], __ATOMIC_RELAXED);
}

static inline uint64_t nsp_left_out(const struct nsp_shm_map *map)
{
    uint64_t records = 0;

    for (uint32_t cpu = 0; cpu < map->cpus; ++cpu)
        records += nsp_ring_left_out(nsp_shm_ring(map, cpu));
    return records;
}

#endif /* NSP_LEFT_OUT_H */
