/* SPDX-License-Identifier: GPL-2.0 */
/* Output for a reader: chunks in a bounded queue -> bytes of a trace file. */
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
	u32 read;  /* bytes already read */
	u8 data[] __aligned(8); /* header and payload */
};

struct nsmod_output {
	/* held by the reader, also during accesses to user memory; taken before `lock` */
	struct mutex reading;
	struct mutex lock;    /* protects the queue and its counts */
	struct list_head chunks;
	u64 bytes;        /* in the queue */
	u64 limit_bytes;  /* the drain pauses if the queue has more */
	u64 total_bytes;  /* ever added: the file's length so far */
	u64 sequence[NSLICE_CHUNK_KINDS]; /* RECORDS of both kinds are counted per CPU elsewhere */
	bool is_finished; /* nothing more will be added */
	wait_queue_head_t readable;
	wait_queue_head_t room;
};

void nsmod_output_init(struct nsmod_output *output, u64 limit_bytes);
void nsmod_output_destroy(struct nsmod_output *output);

/* An empty chunk with room for a payload; -ENOSPC if the queue is full, -ENOMEM. */
struct nsmod_chunk *nsmod_output_chunk(struct nsmod_output *output, u32 payload_bytes);
void nsmod_output_drop(struct nsmod_chunk *chunk);

/* Payload of a chunk: 8-byte aligned. */
void *nsmod_chunk_payload(struct nsmod_chunk *chunk);

/*
 * Adds a chunk with a complete payload; completes the header (the caller sets
 * kind, sequence, cpu, records, ...).
 */
void nsmod_output_add(struct nsmod_output *output, struct nsmod_chunk *chunk, struct nslice_chunk_header *header, u32 payload_bytes);

/*
 * Adds a chunk of any kind except records: copied, padded, with the next number
 * of its kind.  Ignores the limit.  0 or -ENOMEM.
 */
int nsmod_output_small(struct nsmod_output *output, u16 kind, const void *payload, u32 payload_bytes);

/* Adds bytes unchanged, for the file header.  0 or -ENOMEM. */
int nsmod_output_raw(struct nsmod_output *output, const void *bytes, u32 count);

/* To be called after the last chunk. */
void nsmod_output_finish(struct nsmod_output *output);

bool nsmod_output_is_full(const struct nsmod_output *output);
bool nsmod_output_is_readable(const struct nsmod_output *output);

/* Bytes read, 0: the end, -EAGAIN: no data and is_nonblocking, -ERESTARTSYS, -EFAULT. */
ssize_t nsmod_output_read(struct nsmod_output *output, struct iov_iter *to, bool is_nonblocking);

#endif /* NSMOD_OUTPUT_H */
