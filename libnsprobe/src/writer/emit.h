/* SPDX-License-Identifier: MIT */
/* The cold half of the writer: what a probe does when the inline half cannot finish. */
#ifndef NSP_EMIT_H
#define NSP_EMIT_H

#include <stdint.h>

#include <nslice/ring.h>

#include <nsprobe/detail/site.h>
#include <nsprobe/detail/state.h>

#include "counted.h"

/* Called by nsp_detail_general.  attempt: NSP_ATTEMPT_*.  Returns NSP_EMIT_*. */
int nsp_detail_emit(struct nsp_detail_state *state, const struct nsp_site *site,
                    const uint64_t *words, uint32_t attempt);

/*
 * Writes one record with its words to the current CPU's ring, or counts a loss there: returns 1.
 * 0: try again.
 */
int nsp_push(struct nsp_detail_state *state, uint64_t *record, uint32_t record_words);

/* The same, and also 0 unless *word still has this value; that is certain in a ring with rseq. */
int nsp_push_while(struct nsp_detail_state *state, uint64_t *record, uint32_t record_words,
                   const uint64_t *word, uint64_t value);

/*
 * Makes room for `record_words` words in a ring whose limit is reached.  1: try again; 0: no
 * room, the loss is counted.  Any thread, any CPU, signal handlers.
 */
int nsp_make_room(struct nslice_ring_meta *ring, uint32_t record_words);

/*
 * Closes a ring: an unreachable limit sends every later record to the cold path, which counts it as
 * lost to closing.
 */
void nsp_ring_refuse(struct nslice_ring_meta *ring);

/*
 * The same for a time: until nsp_ring_resume(), records are counted as left out.  Not with policy
 * overwrite and an atomic ring, whose limit only follows the zeroing of its records.
 */
void nsp_ring_pause(struct nslice_ring_meta *ring);
void nsp_ring_resume(struct nslice_ring_meta *ring);

#endif /* NSP_EMIT_H */
