/* SPDX-License-Identifier: GPL-2.0 */
/* What a reader will read: chunks in a bounded queue -> bytes of a trace file. */
#ifndef NSMOD_OUTPUT_H
#define NSMOD_OUTPUT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <nslice/file.h>

struct iov_iter;

/* CRC32C as in trace files. */
u32 nsmod_checksum(const void *data, u32 bytes);

struct nsmod_chunk {
	struct list_head node;
	u32 bytes; /* of `data` that are valid */
	u32 room;
	u32 read;  /* bytes that the reader has */
	u8 data[] __aligned(8); /* header and payload */
};

struct nsmod_output {
	struct mutex reading; /* of who takes out; taken before `lock`, and held while user memory sleeps */
	struct mutex lock;    /* of the queue and what is told of it */
	struct list_head chunks;
	u64 bytes;        /* in the queue */
	u64 limit_bytes;  /* the drain pauses when more are in the queue */
	u64 total_bytes;  /* ever added: the file's length so far */
	u64 sequence[NSLICE_CHUNK_KINDS]; /* RECORDS of both kinds count for each CPU elsewhere */
	bool is_finished; /* nothing more will be added */
	wait_queue_head_t readable;
	wait_queue_head_t room;
};

void nsmod_output_init(struct nsmod_output *output, u64 limit_bytes);
void nsmod_output_destroy(struct nsmod_output *output);

/* An empty chunk with room for a payload; -ENOSPC when the queue is full, -ENOMEM. */
struct nsmod_chunk *nsmod_output_chunk(struct nsmod_output *output, u32 payload_bytes);
void nsmod_output_drop(struct nsmod_chunk *chunk);

/* Payload of a chunk: 8-byte aligned. */
void *nsmod_chunk_payload(struct nsmod_chunk *chunk);

/* Takes over a chunk whose payload stands; completes the header (kind, sequence, cpu, records, ... are the caller's). */
void nsmod_output_add(struct nsmod_output *output, struct nsmod_chunk *chunk, struct nslice_chunk_header *header, u32 payload_bytes);

/* A chunk of any other kind than records: copied, padded, with the next number of its kind.  Ignores the limit.  0 or -ENOMEM. */
int nsmod_output_small(struct nsmod_output *output, u16 kind, const void *payload, u32 payload_bytes);

/* Bytes as they are: the file's header.  0 or -ENOMEM. */
int nsmod_output_raw(struct nsmod_output *output, const void *bytes, u32 count);

/* The last one has been added. */
void nsmod_output_finish(struct nsmod_output *output);

bool nsmod_output_is_full(const struct nsmod_output *output);
bool nsmod_output_is_readable(const struct nsmod_output *output);

/* Bytes given, 0: the end, -EAGAIN: nothing there and is_nonblocking, -ERESTARTSYS, -EFAULT. */
ssize_t nsmod_output_read(struct nsmod_output *output, struct iov_iter *to, bool is_nonblocking);

#endif /* NSMOD_OUTPUT_H */
