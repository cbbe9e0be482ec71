/* SPDX-License-Identifier: MIT */
/* The first records of each ring in a window of time -> names around names. */
#include "ring_windows.h"

#include <stdlib.h>

#include "drain/ring_read.h"
#include "sites/sites.h"

#define MOST_RECORDS 8192 /* of one CPU in one window: some 50 us of work */

struct nsp_ring_windows *nsp_ring_windows_new(const struct nsp_shm_map *map)
{
    return calloc(1, sizeof(struct nsp_ring_windows) + map->cpus * sizeof(uint64_t));
}

void nsp_ring_windows_begin(struct nsp_ring_windows *windows, const struct nsp_shm_map *map)
{
    for (uint32_t cpu = 0; cpu < map->cpus; ++cpu)
        windows->begin[cpu] = __atomic_load_n(&nsp_shm_ring(map, cpu)->head, __ATOMIC_ACQUIRE);
}

/* Writers may be overwriting it, or the drain zeroing it: a wrong name is rare. */
static __attribute__((no_sanitize_thread)) uint64_t second_word(const void *record)
{
    return ((const volatile uint64_t *)record)[1];
}

static void read_ring(struct nsp_ring_windows *windows, const struct nsp_shm_map *map, uint32_t cpu)
{
    const struct nslice_ring_meta *ring = nsp_shm_ring(map, cpu);
    const uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    const uint64_t begin = windows->begin[cpu];
    const uint32_t words = NSLICE_POSITION_WORDS(head - begin);
    struct nsp_window window = {.count = 0};
    uint32_t at = 0;

    /* More than half a ring: writers may be overwriting the beginning. */
    if (words > map->ring_bytes / NSLICE_WORD_BYTES / 2)
        return;
    for (uint32_t record = 0; record < MOST_RECORDS && at + NSLICE_HEAD_WORDS <= words; ++record) {
        const uint64_t word = second_word(nsp_ring_data(ring, map->ring_bytes, begin + at));
        const int name = nsp_sites_name_of((uint16_t)(word >> 32));

        if (word == 0) /* atomic rings: claimed, but not written yet */
            return;
        if (name >= 0)
            nsp_nesting_take(&windows->nesting, &window, NSLICE_RECORD_KIND(word), (uint8_t)name,
                             (uint32_t)word);
        at += NSLICE_RECORD_WORDS(word);
    }
}

void nsp_ring_windows_end(struct nsp_ring_windows *windows, const struct nsp_shm_map *map)
{
    for (uint32_t cpu = 0; cpu < map->cpus; ++cpu)
        read_ring(windows, map, cpu);
    nsp_nesting_settle(&windows->nesting);
}
