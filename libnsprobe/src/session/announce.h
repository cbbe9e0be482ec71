/* SPDX-License-Identifier: MIT */
/* Announcements: chunk payloads that a process hands to the drain through the session's memory. */
#ifndef NSP_ANNOUNCE_H
#define NSP_ANNOUNCE_H

#include <stdint.h>

#include "shm.h"

/* Appends a payload for a chunk of `kind`.  Any process, any thread.  0, or -ENOSPC (counted in dropped_announcements). */
int nsp_announce(const struct nsp_shm_map *map, uint16_t kind, const void *payload, uint32_t bytes);

/*
 * The next whole announcement at *cursor (0 at first), which moves on.  1 and
 * payload, kind, bytes; 0 when there is none yet.  Lends the payload: it stays in
 * the session's memory.
 */
int nsp_announce_next(const struct nsp_shm_map *map, uint64_t *cursor, uint16_t *kind, const void **payload,
                      uint32_t *bytes);

/*
 * Passes over the announcement at *cursor that nsp_announce_next() waits for.
 * Only when its writer cannot be at work any more.  1, or 0 at the log's end.
 */
int nsp_announce_skip(const struct nsp_shm_map *map, uint64_t *cursor);

#endif /* NSP_ANNOUNCE_H */
