/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's rings: one a CPU, written in any context by the rules of atomic rings, read by one drain. */
#ifndef NSMOD_KERNEL_RING_H
#define NSMOD_KERNEL_RING_H

#include <linux/percpu.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <nslice/kernel.h>
#include <nslice/ring.h>

/*
 * What a ring of a session has in its meta page is in nslice_kernel_ring; the
 * data lie elsewhere, twice in a row.  Writers find them by the producer line's
 * first spare word: the address of the second unit, where a record's kind is.
 * One load of arm64's brings it with limit and mask.
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

/* A ring of `data`, without room for writers: they count what they bring as lost, closed. */
void nsmod_ring_init(struct nslice_ring_meta *ring, u32 cpu, u64 *data, u64 ring_bytes, u32 full);
void nsmod_ring_open(struct nslice_ring_meta *ring);
void nsmod_ring_close(struct nslice_ring_meta *ring);

/* Rings of every possible CPU, not open yet.  0 or -errno. */
int nsmod_kernel_rings_create(u64 ring_bytes, u32 full);

/* Writers write to them; and do so no more, and none is at work with one. */
void nsmod_kernel_rings_open(void);
void nsmod_kernel_rings_close(void);

void nsmod_kernel_rings_destroy(void);

/* NULL for a CPU that cannot be. */
struct nslice_ring_meta *nsmod_kernel_ring_of(u32 cpu);
u64 nsmod_kernel_ring_bytes(void);

#endif /* NSMOD_KERNEL_RING_H */
