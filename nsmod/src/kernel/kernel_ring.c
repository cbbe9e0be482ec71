// SPDX-License-Identifier: GPL-2.0
/* Size and policy -> pages on each CPU's node -> a mapping with the data twice in a row. */
#include "kernel/kernel_ring.h"

#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "kernel/kernel_write.h"

DEFINE_PER_CPU_ALIGNED(struct nslice_ring_meta, nslice_kernel_ring);
EXPORT_PER_CPU_SYMBOL_GPL(nslice_kernel_ring);
static u64 own_ring_bytes;

static void free_pages_of(struct page **pages, u32 count)
{
	u32 i;

	for (i = 0; i < count && pages[i]; ++i)
		__free_page(pages[i]);
}

/* From here on the pages are referenced only by the mapping. */
static u64 *map_twice(struct page **pages, u32 count)
{
	memcpy(pages + count, pages, count * sizeof(*pages));
	return vmap(pages, 2 * count, VM_MAP, PAGE_KERNEL);
}

static u64 *create_data(u32 cpu, u64 ring_bytes)
{
	const u32 count = ring_bytes >> PAGE_SHIFT;
	struct page **pages = kvcalloc(2 * (size_t)count, sizeof(*pages), GFP_KERNEL);
	u64 *data = NULL;
	u32 i;

	if (!pages)
		return NULL;
	for (i = 0; i < count; ++i) {
		pages[i] = alloc_pages_node(cpu_to_node(cpu), GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NORETRY | __GFP_NOWARN, 0);
		if (!pages[i])
			break;
	}
	if (i == count)
		data = map_twice(pages, count);
	if (!data)
		free_pages_of(pages, count);
	kvfree(pages);
	return data;
}

static void destroy_data(u64 *data, u64 ring_bytes)
{
	const u32 count = ring_bytes >> PAGE_SHIFT;
	struct page **pages = kvcalloc(count, sizeof(*pages), GFP_KERNEL | __GFP_NOFAIL);
	u32 i;

	for (i = 0; i < count; ++i)
		pages[i] = vmalloc_to_page((void *)data + ((u64)i << PAGE_SHIFT));
	vunmap(data);
	free_pages_of(pages, count);
	kvfree(pages);
}

void nsmod_ring_init(struct nslice_ring_meta *ring, u32 cpu, u64 *data, u64 ring_bytes, u32 full)
{
	const u32 words = ring_bytes / NSLICE_WORD_BYTES;

	memset(ring, 0, sizeof(*ring));
	ring->magic = NSLICE_RING_MAGIC;
	ring->abi_version = NSLICE_ABI_VERSION;
	ring->kind = NSLICE_RING_KERNEL;
	ring->cpu = cpu;
	ring->full = full;
	ring->data_bytes = ring_bytes;
	ring->mask = words - 1;
	ring->closing = 1;
	ring->reserved1[0] = (uintptr_t)(data + 1);
}

void nsmod_ring_open(struct nslice_ring_meta *ring)
{
	WRITE_ONCE(ring->closing, 0);
	/*
	 * pairs with the acquire of the limit in nsmod_make_room(): a writer
	 * that sees room also sees that the ring is open
	 */
	smp_store_release(&ring->limit, ring->mask + 1);
}

/*
 * In this order: a writer without room checks `closing` before it makes room by
 * an exchange of the limit that it has seen.
 */
void nsmod_ring_close(struct nslice_ring_meta *ring)
{
	WRITE_ONCE(ring->closing, 1);
	smp_mb(); /* pairs with the writer's exchange of the limit in nsmod_make_room() */
	xchg(&ring->limit, (u32)READ_ONCE(ring->head));
}

int nsmod_kernel_rings_create(u64 ring_bytes, u32 full)
{
	int cpu;

	own_ring_bytes = ring_bytes;
	for_each_possible_cpu(cpu) {
		u64 *data = create_data(cpu, ring_bytes);

		if (!data) {
			nsmod_kernel_rings_destroy();
			return -ENOMEM;
		}
		nsmod_ring_init(per_cpu_ptr(&nslice_kernel_ring, cpu), cpu, data, ring_bytes, full);
	}
	return 0;
}

void nsmod_kernel_rings_open(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		nsmod_ring_open(per_cpu_ptr(&nslice_kernel_ring, cpu));
}

void nsmod_kernel_rings_close(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		nsmod_ring_close(per_cpu_ptr(&nslice_kernel_ring, cpu));
	nsmod_writers_leave();
}

void nsmod_kernel_rings_destroy(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct nslice_ring_meta *ring = per_cpu_ptr(&nslice_kernel_ring, cpu);

		if (ring->reserved1[0])
			destroy_data(nsmod_ring_data(ring), own_ring_bytes);
		ring->reserved1[0] = 0;
	}
}

struct nslice_ring_meta *nsmod_kernel_ring_of(u32 cpu)
{
	return cpu < nr_cpu_ids && cpu_possible(cpu) ? per_cpu_ptr(&nslice_kernel_ring, cpu) : NULL;
}

u64 nsmod_kernel_ring_bytes(void)
{
	return own_ring_bytes;
}
