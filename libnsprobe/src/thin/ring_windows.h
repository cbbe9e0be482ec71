/* SPDX-License-Identifier: MIT */
/* Records in the rings of a running session -> which names lie inside which, as far as seen. */
#ifndef NSP_RING_WINDOWS_H
#define NSP_RING_WINDOWS_H

#include <stdint.h>

#include "common/thin/nesting.h"
#include "session/shm.h"

struct nsp_ring_windows {
    struct nsp_nesting nesting;
    uint64_t begin[]; /* by CPU: the ring's head when the present window began */
};

/* NULL: out of memory.  free() releases it. */
struct nsp_ring_windows *nsp_ring_windows_new(const struct nsp_shm_map *map);

/* A window of time begins: notes where the rings are. */
void nsp_ring_windows_begin(struct nsp_ring_windows *windows, const struct nsp_shm_map *map);

/*
 * The window ends: reads the first records written in it, as far as they have not been overwritten.
 * Trusts nothing in the rings, which other processes may write to.
 */
void nsp_ring_windows_end(struct nsp_ring_windows *windows, const struct nsp_shm_map *map);

#endif /* NSP_RING_WINDOWS_H */
