// SPDX-License-Identifier: GPL-2.0
/* Size and policy -> pages of each CPU's own node -> a mapping with the data twice in a row. */
#include "kernel_ring.h"

#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

DEFINE_PER_CPU(struct nslice_ring_meta *, nsmod_kernel_ring);
static DEFINE_PER_CPU(struct nslice_ring_meta *, own_ring); /* also while writers do not see it */
static u64 own_ring_bytes;

static void free_pages_of(struct page **pages, u32 count)
{
	u32 i;

	for (i = 0; i < count && pages[i]; ++i)
		__free_page(pages[i]);
}

/* The mapping holds the pages alone from here on. */
static struct nslice_ring_meta *map_twice(struct page **pages, u32 data_pages)
{
	u32 i;

	for (i = 0; i < data_pages; ++i)
		pages[1 + data_pages + i] = pages[1 + i];
	return vmap(pages, 1 + 2 * data_pages, VM_MAP, PAGE_KERNEL);
}

static struct nslice_ring_meta *create_ring(u32 cpu, u64 ring_bytes)
{
	const u32 data_pages = ring_bytes >> PAGE_SHIFT, count = 1 + data_pages;
	struct page **pages = kvcalloc(1 + 2 * (size_t)data_pages, sizeof(*pages), GFP_KERNEL);
	struct nslice_ring_meta *ring = NULL;
	u32 i;

	if (!pages)
		return NULL;
	for (i = 0; i < count; ++i) {
		pages[i] = alloc_pages_node(cpu_to_node(cpu), GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NORETRY | __GFP_NOWARN, 0);
		if (!pages[i])
			break;
	}
	if (i == count)
		ring = map_twice(pages, data_pages);
	if (!ring)
		free_pages_of(pages, count);
	kvfree(pages);
	return ring;
}

static void destroy_ring(struct nslice_ring_meta *ring, u64 ring_bytes)
{
	const u32 count = 1 + (ring_bytes >> PAGE_SHIFT);
	struct page **pages = kvcalloc(count, sizeof(*pages), GFP_KERNEL | __GFP_NOFAIL);
	u32 i;

	for (i = 0; i < count; ++i)
		pages[i] = vmalloc_to_page((void *)ring + ((u64)i << PAGE_SHIFT));
	vunmap(ring);
	free_pages_of(pages, count);
	kvfree(pages);
}

static void fill_meta(struct nslice_ring_meta *ring, u32 cpu, u64 ring_bytes, u32 full)
{
	const u32 units = ring_bytes / NSLICE_UNIT_BYTES;

	ring->magic = NSLICE_RING_MAGIC;
	ring->abi_version = NSLICE_ABI_VERSION;
	ring->kind = NSLICE_RING_KERNEL;
	ring->cpu = cpu;
	ring->full = full;
	ring->data_bytes = ring_bytes;
	ring->limit = units;
	ring->mask = units - 1;
}

int nsmod_kernel_rings_create(u64 ring_bytes, u32 full)
{
	int cpu;

	own_ring_bytes = ring_bytes;
	for_each_possible_cpu(cpu) {
		struct nslice_ring_meta *ring = create_ring(cpu, ring_bytes);

		if (!ring) {
			nsmod_kernel_rings_destroy();
			return -ENOMEM;
		}
		fill_meta(ring, cpu, ring_bytes, full);
		per_cpu(own_ring, cpu) = ring;
	}
	return 0;
}

void nsmod_kernel_rings_show(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		smp_store_release(per_cpu_ptr(&nsmod_kernel_ring, cpu), per_cpu(own_ring, cpu));
}

void nsmod_kernel_rings_hide(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(*per_cpu_ptr(&nsmod_kernel_ring, cpu), NULL);
	synchronize_rcu();
#ifdef CONFIG_TASKS_RCU
	synchronize_rcu_tasks(); /* a writer may have been preempted in the middle of a record */
#endif
}

void nsmod_kernel_rings_destroy(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct nslice_ring_meta *ring = per_cpu(own_ring, cpu);

		per_cpu(own_ring, cpu) = NULL;
		if (ring)
			destroy_ring(ring, own_ring_bytes);
	}
}

struct nslice_ring_meta *nsmod_kernel_ring_of(u32 cpu)
{
	return cpu < nr_cpu_ids && cpu_possible(cpu) ? per_cpu(own_ring, cpu) : NULL;
}

u64 nsmod_kernel_ring_bytes(void)
{
	return own_ring_bytes;
}
