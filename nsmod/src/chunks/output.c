// SPDX-License-Identifier: GPL-2.0
/* Chunks -> queue -> read().  Completes headers with checksums; a slow reader only fills the queue. */
#include "chunks/output.h"

#include <linux/crc32c.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uio.h>

void nsmod_output_init(struct nsmod_output *output, u64 limit_bytes)
{
	memset(output, 0, sizeof(*output));
	mutex_init(&output->reading);
	mutex_init(&output->lock);
	INIT_LIST_HEAD(&output->chunks);
	output->limit_bytes = limit_bytes;
	init_waitqueue_head(&output->readable);
	init_waitqueue_head(&output->room);
}

void nsmod_output_destroy(struct nsmod_output *output)
{
	struct nsmod_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, &output->chunks, node)
		kvfree(chunk);
	INIT_LIST_HEAD(&output->chunks);
}

static struct nsmod_chunk *new_chunk(u32 room)
{
	struct nsmod_chunk *chunk = kvmalloc(struct_size(chunk, data, room), GFP_KERNEL_ACCOUNT);

	if (!chunk)
		return NULL;
	INIT_LIST_HEAD(&chunk->node);
	chunk->bytes = 0;
	chunk->room = room;
	chunk->read = 0;
	return chunk;
}

bool nsmod_output_is_full(const struct nsmod_output *output)
{
	return READ_ONCE(output->bytes) >= output->limit_bytes;
}

bool nsmod_output_is_readable(const struct nsmod_output *output)
{
	return READ_ONCE(output->bytes) > 0 || READ_ONCE(output->is_finished);
}

struct nsmod_chunk *nsmod_output_chunk(struct nsmod_output *output, u32 payload_bytes)
{
	struct nsmod_chunk *chunk;

	if (nsmod_output_is_full(output))
		return ERR_PTR(-ENOSPC);
	chunk = new_chunk(sizeof(struct nslice_chunk_header) + payload_bytes);
	return chunk ? chunk : ERR_PTR(-ENOMEM);
}

void nsmod_output_drop(struct nsmod_chunk *chunk)
{
	kvfree(chunk);
}

void *nsmod_chunk_payload(struct nsmod_chunk *chunk)
{
	return chunk->data + sizeof(struct nslice_chunk_header);
}

u32 nsmod_checksum(const void *data, u32 bytes)
{
	return crc32c(~0u, data, bytes) ^ ~0u;
}

static void add(struct nsmod_output *output, struct nsmod_chunk *chunk)
{
	mutex_lock(&output->lock);
	list_add_tail(&chunk->node, &output->chunks);
	WRITE_ONCE(output->bytes, output->bytes + chunk->bytes);
	output->total_bytes += chunk->bytes;
	mutex_unlock(&output->lock);
	wake_up_interruptible(&output->readable);
}

void nsmod_output_add(struct nsmod_output *output, struct nsmod_chunk *chunk, struct nslice_chunk_header *header, u32 payload_bytes)
{
	header->magic = NSLICE_CHUNK_MAGIC;
	header->header_bytes = sizeof(*header);
	header->payload_bytes = payload_bytes;
	header->payload_crc32c = nsmod_checksum(nsmod_chunk_payload(chunk), payload_bytes);
	header->header_crc32c = nsmod_checksum(header, offsetof(struct nslice_chunk_header, header_crc32c));
	memcpy(chunk->data, header, sizeof(*header));
	chunk->bytes = sizeof(*header) + payload_bytes;
	add(output, chunk);
}

int nsmod_output_small(struct nsmod_output *output, u16 kind, const void *payload, u32 payload_bytes)
{
	const u32 padded = ALIGN(payload_bytes, 8);
	struct nslice_chunk_header header = { .kind = kind, .sequence = output->sequence[kind] };
	struct nsmod_chunk *chunk = new_chunk(sizeof(header) + padded);

	if (!chunk)
		return -ENOMEM;
	memcpy(nsmod_chunk_payload(chunk), payload, payload_bytes);
	memset(nsmod_chunk_payload(chunk) + payload_bytes, 0, padded - payload_bytes);
	++output->sequence[kind];
	nsmod_output_add(output, chunk, &header, padded);
	return 0;
}

int nsmod_output_raw(struct nsmod_output *output, const void *bytes, u32 count)
{
	struct nsmod_chunk *chunk = new_chunk(count);

	if (!chunk)
		return -ENOMEM;
	memcpy(chunk->data, bytes, count);
	chunk->bytes = count;
	add(output, chunk);
	return 0;
}

void nsmod_output_finish(struct nsmod_output *output)
{
	smp_store_release(&output->is_finished, true); /* pairs with the acquire in nsmod_output_read() */
	wake_up_interruptible(&output->readable);
}

static struct nsmod_chunk *oldest(struct nsmod_output *output)
{
	struct nsmod_chunk *chunk;

	mutex_lock(&output->lock);
	chunk = list_first_entry_or_null(&output->chunks, struct nsmod_chunk, node);
	mutex_unlock(&output->lock);
	return chunk;
}

static void take(struct nsmod_output *output, struct nsmod_chunk *chunk, size_t bytes)
{
	chunk->read += bytes;
	mutex_lock(&output->lock);
	WRITE_ONCE(output->bytes, output->bytes - bytes);
	if (chunk->read == chunk->bytes)
		list_del(&chunk->node);
	mutex_unlock(&output->lock);
	if (chunk->read == chunk->bytes)
		kvfree(chunk);
}

/*
 * Reads the oldest bytes, holding only `reading`: a page fault of the reader
 * may take forever, and the drain must not wait for it.
 */
static ssize_t read_some(struct nsmod_output *output, struct iov_iter *to)
{
	struct nsmod_chunk *chunk;
	ssize_t given = 0;

	while (iov_iter_count(to) > 0 && (chunk = oldest(output))) {
		const size_t want = min_t(size_t, chunk->bytes - chunk->read, iov_iter_count(to));
		const size_t got = copy_to_iter(chunk->data + chunk->read, want, to);

		given += got;
		take(output, chunk, got);
		if (got < want)
			return given ? given : -EFAULT;
	}
	return given;
}

ssize_t nsmod_output_read(struct nsmod_output *output, struct iov_iter *to, bool is_nonblocking)
{
	ssize_t given;

	if (iov_iter_count(to) == 0)
		return 0;
	for (;;) {
		/*
		 * Read before the queue, so that everything added before the
		 * end is read before it.
		 */
		const bool is_finished = smp_load_acquire(&output->is_finished);

		if (mutex_lock_interruptible(&output->reading))
			return -ERESTARTSYS;
		given = read_some(output, to);
		mutex_unlock(&output->reading);
		if (given != 0) {
			wake_up(&output->room);
			return given;
		}
		if (is_finished)
			return 0;
		if (is_nonblocking)
			return -EAGAIN;
		if (wait_event_interruptible(output->readable, nsmod_output_is_readable(output)))
			return -ERESTARTSYS;
	}
}
