/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's rings: one per CPU, written like atomic rings in any context, read by one drain. */
#ifndef NSMOD_KERNEL_RING_H
#define NSMOD_KERNEL_RING_H

#include <linux/percpu.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <nslice/kernel.h>
#include <nslice/ring.h>

/*
 * nslice_kernel_ring corresponds to the meta page of a session's ring; the data
 * are mapped elsewhere, twice in a row.  Writers find them by the first reserved
 * word of the producer line: the address of the second word of the data, where
 * a record's kind is.  arm64 loads it together with limit and mask.
 */
#define NSMOD_RING_KINDS_OFFSET offsetof(struct nslice_ring_meta, reserved1)

static __always_inline u64 *nsmod_ring_data(const struct nslice_ring_meta *ring)
{
	return (u64 *)(uintptr_t)ring->reserved1[0] - 1;
}

static __always_inline u64 *nsmod_unit_at(const struct nslice_ring_meta *ring, u64 position)
{
	return nsmod_ring_data(ring) + ((u32)position & ring->mask);
}

/* A ring with `data`, closed: records are counted as lost with cause "closed". */
void nsmod_ring_init(struct nslice_ring_meta *ring, u32 cpu, u64 *data, u64 ring_bytes, u32 full);
void nsmod_ring_open(struct nslice_ring_meta *ring);
void nsmod_ring_close(struct nslice_ring_meta *ring);

/* Creates closed rings for every possible CPU.  0 or -errno. */
int nsmod_kernel_rings_create(u64 ring_bytes, u32 full);

/* Allows writers; stops them and waits until none is active. */
void nsmod_kernel_rings_open(void);
void nsmod_kernel_rings_close(void);

void nsmod_kernel_rings_destroy(void);

/* NULL for a CPU that is not possible. */
struct nslice_ring_meta *nsmod_kernel_ring_of(u32 cpu);
u64 nsmod_kernel_ring_bytes(void);

#endif /* NSMOD_KERNEL_RING_H */
