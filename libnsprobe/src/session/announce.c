/* SPDX-License-Identifier: MIT */
/* Announcements: an append-only lock-free log, so that a process killed in it blocks no other. */
#include "announce.h"

#include <errno.h>
#include <string.h>

#include <nsprobe/file.h>

#include "writer/thread_sanitizer.h"

struct announcement {
    uint32_t bytes; /* of the payload; stored first, so that a dead writer's can be skipped */
    uint16_t kind;
    uint16_t ready; /* 1 once the payload is complete */
};

static uint64_t slot_bytes(uint32_t payload_bytes)
{
    return sizeof(struct announcement) + ((payload_bytes + 7u) & ~7ull);
}

int nsp_announce(const struct nsp_shm_map *map, uint16_t kind, const void *payload, uint32_t bytes)
{
    const uint64_t need = slot_bytes(bytes);
    __u64 at;
    struct announcement *slot;

    if (bytes > NSLICE_MAX_PAYLOAD_BYTES) {
        __atomic_fetch_add(&map->shm->dropped_announcements, 1, __ATOMIC_RELAXED);
        return -ENOSPC;
    }
    at = __atomic_load_n(&map->shm->announce_tail, __ATOMIC_RELAXED);
    do {
        if (at + need > NSLICE_SESSION_ANNOUNCE_BYTES) {
            __atomic_fetch_add(&map->shm->dropped_announcements, 1, __ATOMIC_RELAXED);
            return -ENOSPC;
        }
    } while (!__atomic_compare_exchange_n(&map->shm->announce_tail, &at, at + need, 0,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    slot = (struct announcement *)(map->announcements + at);
    __atomic_store_n(&slot->bytes, bytes, __ATOMIC_RELAXED);
    slot->kind = kind;
    memcpy(slot + 1, payload, bytes);
    nsp_tell_release(slot);
    /*
     * pairs with the acquire in nsp_announce_next(): the payload is complete before `ready` is
     * visible
     */
    __atomic_store_n(&slot->ready, 1, __ATOMIC_RELEASE);
    return 0;
}

int nsp_announce_skip(const struct nsp_shm_map *map, uint64_t *cursor)
{
    const uint64_t tail = __atomic_load_n(&map->shm->announce_tail, __ATOMIC_ACQUIRE);
    const struct announcement *slot = (const struct announcement *)(map->announcements + *cursor);
    uint32_t length;

    if (tail > NSLICE_SESSION_ANNOUNCE_BYTES || *cursor + sizeof(*slot) > tail)
        return 0;
    length = __atomic_load_n(&slot->bytes, __ATOMIC_RELAXED);
    if (length > 0 && length <= NSLICE_MAX_PAYLOAD_BYTES && *cursor + slot_bytes(length) <= tail) {
        *cursor += slot_bytes(length);
        return 1;
    }
    /* Its writer died before storing the length: only zeros up to the next announcement. */
    do {
        *cursor += sizeof(*slot);
        slot = (const struct announcement *)(map->announcements + *cursor);
    } while (*cursor + sizeof(*slot) <= tail && !__atomic_load_n(&slot->ready, __ATOMIC_ACQUIRE) &&
             !__atomic_load_n(&slot->bytes, __ATOMIC_RELAXED));
    return 1;
}

int nsp_announce_next(const struct nsp_shm_map *map, uint64_t *cursor, uint16_t *kind,
                      const void **payload, uint32_t *bytes)
{
    uint64_t tail = __atomic_load_n(&map->shm->announce_tail, __ATOMIC_RELAXED);
    struct announcement *slot;
    uint32_t length;

    if (tail > NSLICE_SESSION_ANNOUNCE_BYTES || *cursor + sizeof(*slot) > tail)
        return 0;
    slot = (struct announcement *)(map->announcements + *cursor);
    /* pairs with the release in nsp_announce() */
    if (!__atomic_load_n(&slot->ready, __ATOMIC_ACQUIRE))
        return 0;
    nsp_tell_acquire(slot);
    length = __atomic_load_n(&slot->bytes, __ATOMIC_RELAXED);
    if (length > NSLICE_MAX_PAYLOAD_BYTES || *cursor + slot_bytes(length) > tail)
        return 0;
    *kind = slot->kind;
    *bytes = length;
    *payload = slot + 1;
    *cursor += slot_bytes(length);
    return 1;
}
