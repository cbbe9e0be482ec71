// SPDX-License-Identifier: GPL-2.0
/* Session memory: size -> shmem file -> mappings of processes; the drain reads it by page. */
#include "session/session_memory.h"

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include "compat.h"

static struct page *page_at(const struct nsmod_memory *memory, u64 offset)
{
	return shmem_read_mapping_page(memory->file->f_mapping, offset >> PAGE_SHIFT);
}

static int pin_pages(struct nsmod_memory *memory)
{
	u32 cpu;

	memory->header_page = page_at(memory, 0);
	if (IS_ERR(memory->header_page)) {
		int err = PTR_ERR(memory->header_page);

		memory->header_page = NULL;
		return err;
	}
	for (cpu = 0; cpu < memory->cpus; ++cpu) {
		struct page *page = page_at(memory, NSLICE_SESSION_RING_OFFSET(cpu, memory->ring_bytes));

		if (IS_ERR(page))
			return PTR_ERR(page);
		memory->meta_pages[cpu] = page;
	}
	return 0;
}

int nsmod_memory_create(struct nsmod_memory *memory, u32 cpus, u64 ring_bytes)
{
	int err;

	memset(memory, 0, sizeof(*memory));
	memory->cpus = cpus;
	memory->ring_bytes = ring_bytes;
	memory->bytes = NSLICE_SESSION_BYTES(cpus, ring_bytes);
	if (memory->bytes > MAX_LFS_FILESIZE)
		return -EFBIG;
	/* No reservation: rings of unused CPUs are never touched. */
	memory->file = shmem_file_setup("nsmod-session", memory->bytes, VM_NORESERVE);
	if (IS_ERR(memory->file)) {
		err = PTR_ERR(memory->file);
		memory->file = NULL;
		return err;
	}
	memory->meta_pages = kvcalloc(cpus, sizeof(*memory->meta_pages), GFP_KERNEL);
	err = memory->meta_pages ? pin_pages(memory) : -ENOMEM;
	if (err)
		nsmod_memory_destroy(memory);
	return err;
}

void nsmod_memory_destroy(struct nsmod_memory *memory)
{
	u32 cpu;

	for (cpu = 0; memory->meta_pages && cpu < memory->cpus; ++cpu)
		if (memory->meta_pages[cpu])
			put_page(memory->meta_pages[cpu]);
	kvfree(memory->meta_pages);
	if (memory->header_page)
		put_page(memory->header_page);
	if (memory->file)
		fput(memory->file);
	memset(memory, 0, sizeof(*memory));
}

unsigned long nsmod_memory_give_back(struct nsmod_memory *memory)
{
	struct inode *inode = file_inode(memory->file);
	const unsigned long before = inode->i_mapping->nrpages;

	shmem_truncate_range(inode, 0, (loff_t)-1);
	return before - inode->i_mapping->nrpages;
}

int nsmod_memory_mmap(struct nsmod_memory *memory, struct vm_area_struct *vma)
{
	const u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 end;

	/*
	 * Access beyond the end would kill the process; a private mapping would
	 * not reliably show the writes of others.
	 */
	if (check_add_overflow(offset, (u64)(vma->vm_end - vma->vm_start), &end) || end > memory->bytes ||
	    !(vma->vm_flags & VM_SHARED) || (vma->vm_flags & VM_EXEC))
		return -EINVAL;
	nsmod_never_executed(vma); /* not even after mprotect() */
	vma_set_file(vma, memory->file);
	return call_mmap(memory->file, vma);
}

bool nsmod_memory_is_mapped(const struct nsmod_memory *memory)
{
	return file_count(memory->file) > 1;
}

struct nslice_session *nsmod_memory_header(const struct nsmod_memory *memory)
{
	return page_address(memory->header_page);
}

struct nslice_ring_meta *nsmod_memory_ring(const struct nsmod_memory *memory, u32 cpu)
{
	return page_address(memory->meta_pages[cpu]);
}

/*
 * As read() does: holes read as zeros and stay holes, or a process could make
 * the reader allocate pages that are charged to no process.
 */
int nsmod_memory_read(const struct nsmod_memory *memory, u64 offset, void *to, u64 bytes)
{
	loff_t at = offset;

	while (bytes > 0) {
		const ssize_t got = kernel_read(memory->file, to, bytes, &at);

		if (got <= 0)
			return got < 0 ? got : -EIO;
		to += got;
		bytes -= got;
	}
	return 0;
}

/* Only data read as records are cleared, so the pages exist. */
int nsmod_memory_clear(const struct nsmod_memory *memory, u64 offset, u64 bytes)
{
	while (bytes > 0) {
		const u64 part = min_t(u64, bytes, PAGE_SIZE - offset_in_page(offset));
		struct page *page = page_at(memory, offset);

		if (IS_ERR(page))
			return PTR_ERR(page);
		memset(page_address(page) + offset_in_page(offset), 0, part);
		set_page_dirty(page);
		put_page(page);
		offset += part;
		bytes -= part;
	}
	return 0;
}
