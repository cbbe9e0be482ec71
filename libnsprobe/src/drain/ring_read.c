/* SPDX-License-Identifier: MIT */
/* Ring reader: the only one, for both kinds of user rings. */
#include "ring_read.h"

#include <string.h>

const void *nsp_ring_data(const struct nslice_ring_meta *ring, uint64_t ring_bytes,
                          uint64_t position)
{
    const uint64_t words = ring_bytes / NSLICE_WORD_BYTES;

    return (const char *)ring + NSLICE_RING_META_BYTES +
           ((uint32_t)position & (words - 1)) * NSLICE_WORD_BYTES;
}

struct nslice_span nsp_ring_span(const struct nslice_ring_meta *ring, uint64_t ring_bytes,
                                 uint64_t tail, uint64_t head, uint32_t max_bytes)
{
    const uint32_t words = NSLICE_POSITION_WORDS(head - tail),
                   records = NSLICE_POSITION_RECORDS(head - tail);
    const uint32_t max_words = max_bytes / NSLICE_WORD_BYTES;
    const int atomic = ring->kind == NSLICE_RING_ATOMIC;

    if (atomic || words > max_words) {
        /* Only heads: their boundaries are known without reading them. */
        if (!atomic && words == records * NSLICE_HEAD_WORDS)
            return (struct nslice_span){max_words & ~1u, max_words / NSLICE_HEAD_WORDS};
        return nslice_span_walk(nsp_ring_data(ring, ring_bytes, tail), words, max_words, atomic);
    }
    return (struct nslice_span){words, records};
}

int nsp_ring_consume(struct nslice_ring_meta *ring, uint64_t ring_bytes, uint64_t tail,
                     struct nslice_span span)
{
    const uint64_t step = ((uint64_t)span.records << 32) + span.words;

    if (ring->full == NSLICE_FULL_OVERWRITE) {
        __u64 expected = tail; /* as in the ring: clang distinguishes unsigned long and long long */

        /*
         * A writer is still zeroing the span before: the room after it must not be freed yet.
         */
        if (ring->kind == NSLICE_RING_ATOMIC && !ring->closing &&
            __atomic_load_n(&ring->limit, __ATOMIC_ACQUIRE) != (uint32_t)tail + ring->mask + 1)
            return 0;
        if (!__atomic_compare_exchange_n(&ring->tail, &expected, tail + step, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            return 0;
        if (ring->kind == NSLICE_RING_ATOMIC) {
            memset((void *)nsp_ring_data(ring, ring_bytes, tail), 0,
                   (size_t)span.words * NSLICE_WORD_BYTES);
            uint32_t before = (uint32_t)tail + ring->mask + 1;

            /* By exchange: if the ring is closed meanwhile, its refusing limit must stay. */
            __atomic_compare_exchange_n(&ring->limit, &before,
                                        (uint32_t)(tail + step) + ring->mask + 1, 0,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
        }
        return 1;
    }
    if (ring->kind == NSLICE_RING_ATOMIC)
        memset((void *)nsp_ring_data(ring, ring_bytes, tail), 0,
               (size_t)span.words * NSLICE_WORD_BYTES);
    /* pairs with the acquire in nsp_make_room(): the data is read before the room is freed */
    __atomic_store_n(&ring->tail, tail + step, __ATOMIC_RELEASE);
    return 1;
}
