// SPDX-License-Identifier: GPL-2.0
/* Reads the append-only log of a session's memory: lengths are checked, payloads only copied. */
#include "session/announcements.h"

#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <nslice/file.h>
#include <nslice/session.h>

#include "chunks/output.h"
#include "session/session_memory.h"

#define AWAITED_JIFFIES (HZ / 20)

u64 nsmod_announcements_tail(const struct nsmod_memory *memory)
{
	return READ_ONCE(nsmod_memory_header(memory)->announce_tail);
}

static int read_head(const struct nsmod_memory *memory, u64 cursor, struct nslice_announcement *head)
{
	return nsmod_memory_read(memory, NSLICE_SESSION_HEADER_BYTES + cursor, head, sizeof(*head));
}

static bool is_whole(const struct nslice_announcement *head, u64 cursor, u64 tail)
{
	return head->ready && head->bytes <= NSLICE_MAX_PAYLOAD_BYTES && cursor + NSLICE_ANNOUNCEMENT_BYTES(head->bytes) <= tail;
}

static bool is_for_the_file(u16 kind)
{
	return kind == NSLICE_CHUNK_INFO || kind == NSLICE_CHUNK_SITES || kind == NSLICE_CHUNK_CALIBRATION ||
	       kind == NSLICE_CHUNK_EPOCHS;
}

static int write_payload(struct nsmod_announcements *own, struct nsmod_output *output, u16 kind, const void *payload, u32 bytes)
{
	const struct nslice_file_calibration *calibration = payload;
	const u64 offset = output->total_bytes;
	const int err = nsmod_output_small(output, kind, payload, bytes);

	if (!err && kind == NSLICE_CHUNK_CALIBRATION && bytes >= sizeof(*calibration) && calibration->phase == NSLICE_CALIBRATION_END)
		own->end_calibration_offset = offset;
	return err;
}

/* 1: one was written; 0: the next one is incomplete; -errno. */
static int write_next(struct nsmod_announcements *own, const struct nsmod_memory *memory, struct nsmod_output *output)
{
	const u64 tail = nsmod_announcements_tail(memory);
	struct nslice_announcement head;
	void *payload;
	int err;

	if (tail > NSLICE_SESSION_ANNOUNCE_BYTES || own->cursor + sizeof(head) > tail)
		return 0;
	if (nsmod_output_is_full(output))
		return -ENOSPC;
	if (kthread_should_stop())
		return -EINTR;
	err = read_head(memory, own->cursor, &head);
	if (err || !is_whole(&head, own->cursor, tail))
		return err;
	smp_rmb(); /* pairs with the release of `ready`: the payload is complete before it */
	if (is_for_the_file(head.kind)) {
		payload = kvmalloc(head.bytes, GFP_KERNEL);
		if (!payload)
			return -ENOMEM;
		err = nsmod_memory_read(memory, NSLICE_SESSION_HEADER_BYTES + own->cursor + sizeof(head), payload, head.bytes);
		if (!err)
			err = write_payload(own, output, head.kind, payload, head.bytes);
		kvfree(payload);
	}
	if (err)
		return err;
	own->cursor += NSLICE_ANNOUNCEMENT_BYTES(head.bytes);
	return 1;
}

int nsmod_announcements_write(struct nsmod_announcements *own, const struct nsmod_memory *memory, struct nsmod_output *output)
{
	int more;

	do {
		more = write_next(own, memory, output);
		cond_resched();
	} while (more > 0);
	return more;
}

bool nsmod_announcements_are_awaited(struct nsmod_announcements *own, u64 tail)
{
	if (own->cursor >= min(tail, NSLICE_SESSION_ANNOUNCE_BYTES))
		return false;
	if (own->awaited != own->cursor + 1) {
		own->awaited = own->cursor + 1;
		own->awaited_until = jiffies + AWAITED_JIFFIES;
	}
	return time_before(jiffies, own->awaited_until);
}

/* Skips the announcement at the cursor, which will never be completed.  False: there is none. */
static bool skip(struct nsmod_announcements *own, const struct nsmod_memory *memory)
{
	const u64 tail = nsmod_announcements_tail(memory);
	struct nslice_announcement head;

	if (tail > NSLICE_SESSION_ANNOUNCE_BYTES || own->cursor + sizeof(head) > tail || read_head(memory, own->cursor, &head))
		return false;
	if (head.bytes > 0 && head.bytes <= NSLICE_MAX_PAYLOAD_BYTES && own->cursor + NSLICE_ANNOUNCEMENT_BYTES(head.bytes) <= tail) {
		own->cursor += NSLICE_ANNOUNCEMENT_BYTES(head.bytes);
		return true;
	}
	/*
	 * The writer was killed before it stored the length: only zeros up to
	 * the head of the next one.
	 */
	do {
		own->cursor += sizeof(head);
		cond_resched();
	} while (own->cursor + sizeof(head) <= tail && !kthread_should_stop() && read_head(memory, own->cursor, &head) == 0 &&
		 !head.ready && !head.bytes);
	return true;
}

int nsmod_announcements_settle(struct nsmod_announcements *own, const struct nsmod_memory *memory, struct nsmod_output *output)
{
	u64 dropped = READ_ONCE(nsmod_memory_header(memory)->dropped_announcements);
	char text[64];
	int err = nsmod_announcements_write(own, memory, output);

	while (!err && skip(own, memory)) {
		++own->skipped;
		err = nsmod_announcements_write(own, memory, output);
	}
	dropped += own->skipped;
	if (err || dropped == 0)
		return err;
	return nsmod_output_small(output, NSLICE_CHUNK_INFO, text,
				  scnprintf(text, sizeof(text), "session.dropped_announcements=%llu\n", dropped));
}
