/* SPDX-License-Identifier: MIT */
/* Ring reader: positions -> a stretch of whole records. */
#ifndef NSP_RING_READ_H
#define NSP_RING_READ_H

#include <stdint.h>

#include <nslice/ring.h>
#include <nslice/stretch.h>

/* As many whole records from tail on as lie before head and fit into max_bytes.  Trusts no length in the ring. */
struct nslice_stretch nsp_ring_stretch(const struct nslice_ring_meta *ring, uint64_t ring_bytes, uint64_t tail,
                                    uint64_t head, uint32_t max_bytes);

/* Where the record at a position lies; the second mapping makes what follows contiguous. */
const void *nsp_ring_data(const struct nslice_ring_meta *ring, uint64_t ring_bytes, uint64_t position);

/* Gives the stretch's room back to the writers.  1; 0 when a writer in policy overwrite took it first. */
int nsp_ring_consume(struct nslice_ring_meta *ring, uint64_t ring_bytes, uint64_t tail, struct nslice_stretch stretch);

#endif /* NSP_RING_READ_H */
