/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's rings: one a CPU, written in any context by the rules of atomic rings, read by one drain. */
#ifndef NSMOD_KERNEL_RING_H
#define NSMOD_KERNEL_RING_H

#include <linux/percpu.h>
#include <linux/types.h>

#include <nslice/ring.h>

/* NULL while nothing is recorded.  Data follow their meta page, and themselves once more. */
DECLARE_PER_CPU(struct nslice_ring_meta *, nsmod_kernel_ring);

/* Rings of every possible CPU, not seen by writers yet.  0 or -errno. */
int nsmod_kernel_rings_create(u64 ring_bytes, u32 full);

/* Writers see them; and see them no more, and none is at work with one. */
void nsmod_kernel_rings_show(void);
void nsmod_kernel_rings_hide(void);

void nsmod_kernel_rings_destroy(void);

/* NULL for a CPU that cannot be. */
struct nslice_ring_meta *nsmod_kernel_ring_of(u32 cpu);
u64 nsmod_kernel_ring_bytes(void);

#endif /* NSMOD_KERNEL_RING_H */
