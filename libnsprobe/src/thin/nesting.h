/* SPDX-License-Identifier: MIT */
/* Records in the rings of a running session -> which names lie inside which, as far as seen. */
#ifndef NSP_NESTING_H
#define NSP_NESTING_H

#include <stdint.h>

#include "session/shm.h"
#include "sites/sites.h"

#define NSP_MOST_LEVELS 15

struct nsp_nesting {
    /* How often each name's START or MARK was seen, and how often inside each other name. */
    uint32_t seen[NSP_THIN_NAMES], inside[NSP_THIN_NAMES][NSP_THIN_NAMES];
    uint64_t around[NSP_THIN_NAMES][NSP_THIN_NAMES / 64]; /* names that count as around each */
    uint8_t level[NSP_THIN_NAMES]; /* 0: not inside another; else more than those around it */
    uint32_t levels;               /* the greatest one */
    uint32_t inner_count;
    int has_changed;               /* `around`, since the levels were found */
    uint8_t inner[NSP_THIN_NAMES]; /* names of a level above 0 */
    uint64_t *begin;               /* by CPU: the ring's head when the present window began */
};

/* NULL: out of memory.  free() releases it. */
struct nsp_nesting *nsp_nesting_new(const struct nsp_shm_map *map);

/* A window of time begins: notes where the rings are. */
void nsp_nesting_begin(struct nsp_nesting *nesting, const struct nsp_shm_map *map);

/*
 * The window ends: reads the first records written in it, as far as they have not been overwritten.
 * Trusts nothing in the rings, which other processes may write to.
 */
void nsp_nesting_end(struct nsp_nesting *nesting, const struct nsp_shm_map *map);

#endif /* NSP_NESTING_H */
