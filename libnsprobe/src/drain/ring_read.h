/* SPDX-License-Identifier: MIT */
/* Ring reader: positions -> span of whole records. */
#ifndef NSP_RING_READ_H
#define NSP_RING_READ_H

#include <stdint.h>

#include <nslice/ring.h>
#include <nslice/span.h>

/*
 * The whole records from tail that lie before head and fit into max_bytes.  Trusts no length in the
 * ring.
 */
struct nslice_span nsp_ring_span(const struct nslice_ring_meta *ring, uint64_t ring_bytes,
                                 uint64_t tail, uint64_t head, uint32_t max_bytes);

/* Address of the record at a position; the second mapping makes the data after it contiguous. */
const void *nsp_ring_data(const struct nslice_ring_meta *ring, uint64_t ring_bytes,
                          uint64_t position);

/* Returns the span's room to the writers.  1; 0 if a writer took it first (policy overwrite). */
int nsp_ring_consume(struct nslice_ring_meta *ring, uint64_t ring_bytes, uint64_t tail,
                     struct nslice_span span);

#endif /* NSP_RING_READ_H */
