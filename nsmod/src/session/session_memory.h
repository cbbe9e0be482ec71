/* SPDX-License-Identifier: GPL-2.0 */
/* A session's memory (nslice/session.h): a sparse memory file mapped by processes, not trusted. */
#ifndef NSMOD_SESSION_MEMORY_H
#define NSMOD_SESSION_MEMORY_H

#include <linux/types.h>

#include <nslice/ring.h>
#include <nslice/session.h>

struct file;
struct page;
struct vm_area_struct;

struct nsmod_memory {
	struct file *file;
	u32 cpus;
	u64 ring_bytes;
	u64 bytes;
	struct page *header_page;
	struct page **meta_pages; /* of each CPU's ring; pinned, for use in any context */
};

/* 0 or -errno.  Pins the header and the meta pages; all other pages are allocated on first use. */
int nsmod_memory_create(struct nsmod_memory *memory, u32 cpus, u64 ring_bytes);
void nsmod_memory_destroy(struct nsmod_memory *memory);

/*
 * Frees all pages except the pinned ones; the memory must not be mapped or
 * read.  Returns how many.  May sleep.
 */
unsigned long nsmod_memory_give_back(struct nsmod_memory *memory);

/* Maps a range of it into the calling process. */
int nsmod_memory_mmap(struct nsmod_memory *memory, struct vm_area_struct *vma);

/* Whether any process has it mapped. */
bool nsmod_memory_is_mapped(const struct nsmod_memory *memory);

/* Processes may change the contents at any time: read each value once. */
struct nslice_session *nsmod_memory_header(const struct nsmod_memory *memory);
struct nslice_ring_meta *nsmod_memory_ring(const struct nsmod_memory *memory, u32 cpu);

/*
 * Copies from or zeroes a range inside the memory.  0 or -errno: no memory, or
 * root truncated the file.  May sleep.
 */
int nsmod_memory_read(const struct nsmod_memory *memory, u64 offset, void *to, u64 bytes);
int nsmod_memory_clear(const struct nsmod_memory *memory, u64 offset, u64 bytes);

#endif /* NSMOD_SESSION_MEMORY_H */
