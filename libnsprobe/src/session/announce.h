/* SPDX-License-Identifier: MIT */
/* Announcements: chunk payloads that a process passes to the drain through the session's memory. */
#ifndef NSP_ANNOUNCE_H
#define NSP_ANNOUNCE_H

#include <stdint.h>

#include "shm.h"

/*
 * Appends a payload for a chunk of `kind`.  Any process, any thread.  Returns 0, or -ENOSPC
 * (counted in dropped_announcements).
 */
int nsp_announce(const struct nsp_shm_map *map, uint16_t kind, const void *payload, uint32_t bytes);

/*
 * Reads the next complete announcement at *cursor (initially 0) and advances it.
 * Returns 1 with payload, kind and bytes, or 0 if there is none yet.  The payload stays
 * in the session's memory.
 */
int nsp_announce_next(const struct nsp_shm_map *map, uint64_t *cursor, uint16_t *kind,
                      const void **payload, uint32_t *bytes);

/*
 * Skips the announcement at *cursor that nsp_announce_next() is waiting for.  Only if
 * its writer can no longer be active.  Returns 1, or 0 at the end of the log.
 */
int nsp_announce_skip(const struct nsp_shm_map *map, uint64_t *cursor);

#endif /* NSP_ANNOUNCE_H */
