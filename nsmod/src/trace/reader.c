// SPDX-License-Identifier: GPL-2.0
/*
 * The drain's thread.  It empties rings into a queue as long as the queue has
 * room.  A slow reader fills the queue, then the rings, and then records are
 * counted as lost; writers never wait.
 */
#include "trace/reader.h"

#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "chunks/output.h"
#include "clock.h"
#include "request.h"
#include "session/session.h"
#include "session/user_part.h"
#include "trace/kernel_default.h"
#include "trace/kernel_part.h"

static unsigned int drain_us = 500;
module_param(drain_us, uint, 0644);
MODULE_PARM_DESC(drain_us, "polling interval for rings with little data, in microseconds (default 500)");

static unsigned int queue_mib = 16;
module_param(queue_mib, uint, 0644);
MODULE_PARM_DESC(queue_mib, "size of the queue for a slow reader in MiB (default 16)");

static unsigned int max_readers = 64;
module_param(max_readers, uint, 0644);
MODULE_PARM_DESC(max_readers, "maximum number of readers per user, each with a thread and a queue (default 64)");

static DEFINE_MUTEX(readers_lock);
static LIST_HEAD(readers);

struct nsmod_reader {
	struct list_head node; /* of readers */
	kuid_t uid;
	struct nsmod_output output;
	struct task_struct *thread;
	struct mem_cgroup *memcg; /* of the opener, charged for the queue */
	struct nsmod_rights rights; /* of the opener */
	u32 wanted_session; /* 0: any */
	bool is_snapshot;
	bool is_kernel;      /* kernel recorder */
	bool is_chunks_only; /* kernel recorder: no header, no footer */
	bool is_ending;
	struct nsmod_session *session; /* NULL: none yet, or none wanted */
	struct nsmod_user_part user;
	struct nsmod_kernel_part kernel;
	struct nsmod_kernel_default defaults;
};

static int write_header(struct nsmod_reader *reader)
{
	struct nslice_file_header header = {
		.magic = { 'N', 'S', 'L', 'T', 'R', 'A', 'C', 'E' },
		.version = NSLICE_FILE_VERSION,
		.header_bytes = sizeof(header),
		.byte_order = NSLICE_FILE_BYTE_ORDER,
		.created_unix_ns = ktime_get_real_ns(),
	};

	get_random_bytes(header.session_uuid, sizeof(header.session_uuid));
	header.session_uuid[6] = (header.session_uuid[6] & 0x0f) | 0x40; /* RFC 4122: version 4, variant 1 */
	header.session_uuid[8] = (header.session_uuid[8] & 0x3f) | 0x80;
	header.header_crc32c = nsmod_checksum(&header, offsetof(struct nslice_file_header, header_crc32c));
	return nsmod_output_raw(&reader->output, &header, sizeof(header));
}

static u32 end_of(struct nsmod_reader *reader)
{
	if (!reader->session || reader->is_ending || reader->is_snapshot)
		return NSLICE_END_INTERRUPTED;
	return nsmod_session_ended_in_order(reader->session) ? NSLICE_END_CLOSED : NSLICE_END_KILLED;
}

static void tell_chunks(const struct nsmod_output *output, struct nslice_file_footer *footer)
{
	footer->info_chunks = output->sequence[NSLICE_CHUNK_INFO];
	footer->site_chunks = output->sequence[NSLICE_CHUNK_SITES];
	footer->calibration_chunks = output->sequence[NSLICE_CHUNK_CALIBRATION];
	footer->kernel_totals_chunks = output->sequence[NSLICE_CHUNK_KERNEL_TOTALS];
	footer->kernel_calibration_chunks = output->sequence[NSLICE_CHUNK_KERNEL_CALIBRATION];
	footer->kernel_site_chunks = output->sequence[NSLICE_CHUNK_KERNEL_SITES];
}

static int write_footer(struct nsmod_reader *reader)
{
	struct nslice_file_footer *footer = kvzalloc(sizeof(*footer) + nr_cpu_ids * sizeof(struct nslice_file_footer_cpu), GFP_KERNEL);
	struct nslice_file_footer_cpu *rows = (void *)(footer + 1);
	int err;

	if (!footer)
		return -ENOMEM;
	if (reader->session) {
		footer->cpus = nsmod_user_part_rows(&reader->user, rows);
		footer->end_calibration_offset = reader->user.announcements.end_calibration_offset;
		footer->dropped_sites = READ_ONCE(nsmod_memory_header(&reader->session->memory)->dropped_sites);
	}
	tell_chunks(&reader->output, footer);
	footer->end = end_of(reader);
	nsmod_clock_pair(&footer->ticks, &footer->mono_ns);
	err = nsmod_output_small(&reader->output, NSLICE_CHUNK_FOOTER, footer, sizeof(*footer) + footer->cpus * sizeof(*rows));
	kvfree(footer);
	return err;
}

/* Finds a session to read.  0, -EAGAIN: none yet, -errno. */
static int find_session(struct nsmod_reader *reader)
{
	struct nsmod_session *session = nsmod_session_adopt(reader->wanted_session, reader->is_snapshot, &reader->rights);

	if (IS_ERR(session))
		return reader->wanted_session ? PTR_ERR(session) : -EAGAIN;
	reader->session = session;
	return nsmod_user_part_begin(&reader->user, session, reader->is_snapshot);
}

static bool wants_session(const struct nsmod_reader *reader)
{
	return !reader->is_chunks_only && !reader->kernel.rings;
}

static bool is_stopping(const struct nsmod_reader *reader)
{
	return kthread_should_stop() || READ_ONCE(reader->is_ending);
}

static bool is_over(struct nsmod_reader *reader)
{
	return reader->is_snapshot || READ_ONCE(reader->is_ending) || (reader->session && nsmod_session_is_over(reader->session));
}

/* Waits for a session and begins the trace.  0, or -errno: no trace. */
static int begin(struct nsmod_reader *reader)
{
	int err = 0;

	while (wants_session(reader) && !reader->session && !is_stopping(reader)) {
		err = find_session(reader);
		if (err != -EAGAIN)
			break;
		wait_event_freezable_timeout(nsmod_sessions_changed, is_stopping(reader), HZ / 10);
		err = 0;
	}
	if (!err && !reader->kernel.rings) /* a kernel's trace already has it, before its INFO */
		err = write_header(reader);
	return err ? err : nsmod_kernel_default_start(&reader->defaults, is_over(reader), &reader->kernel, &reader->output);
}

static s64 pass(struct nsmod_reader *reader)
{
	s64 user = 0, kernel = 0;

	if (reader->session)
		user = nsmod_user_part_pass(&reader->user, &reader->output);
	if (user >= 0 && reader->kernel.rings)
		kernel = nsmod_kernel_part_pass(&reader->kernel, &reader->output);
	return user < 0 ? user : kernel < 0 ? kernel : max(user, kernel);
}

/* The session is over, or the reader stops: writes the rest, totals, footer. */
static int settle(struct nsmod_reader *reader)
{
	int err = 0;

	nsmod_kernel_part_stop(&reader->kernel);
	if (reader->session && !reader->user.is_settled)
		err = nsmod_user_part_settle(&reader->user, &reader->output);
	if (!err && reader->kernel.rings)
		err = nsmod_kernel_part_settle(&reader->kernel, &reader->output);
	if (!err && !reader->is_chunks_only)
		err = write_footer(reader);
	return err;
}

/* Bytes taken, 0 when the end has been written, or -errno. */
static s64 step(struct nsmod_reader *reader, bool *is_done)
{
	int err;

	if (!is_over(reader))
		return pass(reader);
	err = settle(reader);
	*is_done = !err;
	return err;
}

static void rest(struct nsmod_reader *reader, s64 taken)
{
	const unsigned int us = clamp(READ_ONCE(drain_us), 10u, 1000000u);

	if (taken == -ENOSPC)
		wait_event_freezable_timeout(reader->output.room, !nsmod_output_is_full(&reader->output) || kthread_should_stop(), HZ);
	else if (taken < 0)
		msleep_interruptible(10); /* no memory: retry later */
	else if (taken < PAGE_SIZE)
		usleep_range(us, us + us / 4);
}

static int drain(void *data)
{
	struct nsmod_reader *reader = data;
	struct mem_cgroup *before = set_active_memcg(reader->memcg);
	bool is_done = false;

	set_freezable();
	if (begin(reader))
		is_done = true;
	while (!is_done && !kthread_should_stop()) {
		const s64 taken = step(reader, &is_done);

		if (taken == -EIO) /* root truncated the memory: end without a footer */
			break;
		if (!is_done)
			rest(reader, taken);
		try_to_freeze();
	}
	nsmod_kernel_part_destroy(&reader->kernel); /* others may record from here on */
	nsmod_output_finish(&reader->output);
	while (!kthread_should_stop())
		wait_event_freezable(reader->output.room, kthread_should_stop());
	set_active_memcg(before);
	return 0;
}

static struct nsmod_reader *new_reader(void)
{
	struct nsmod_reader *reader = kvzalloc(sizeof(*reader), GFP_KERNEL_ACCOUNT);

	if (reader)
		INIT_LIST_HEAD(&reader->node);
	if (reader)
		reader->memcg = get_mem_cgroup_from_mm(current->mm);
	if (reader)
		nsmod_output_init(&reader->output, (u64)clamp(READ_ONCE(queue_mib), 1u, 1024u) << 20);
	return reader;
}

static int enlist(struct nsmod_reader *reader)
{
	const struct nsmod_reader *other;
	unsigned int count = 0;

	reader->uid = current_euid();
	mutex_lock(&readers_lock);
	list_for_each_entry(other, &readers, node)
		count += uid_eq(other->uid, reader->uid);
	if (count < READ_ONCE(max_readers))
		list_add(&reader->node, &readers);
	mutex_unlock(&readers_lock);
	return list_empty(&reader->node) ? -EMFILE : 0;
}

static void free_reader(struct nsmod_reader *reader)
{
	mutex_lock(&readers_lock);
	list_del_init(&reader->node);
	mutex_unlock(&readers_lock);
	nsmod_kernel_part_destroy(&reader->kernel);
	nsmod_kernel_default_destroy(&reader->defaults);
	nsmod_user_part_destroy(&reader->user);
	if (reader->session && reader->is_snapshot)
		nsmod_session_put(reader->session);
	else if (reader->session)
		nsmod_session_leave(reader->session, reader->user.is_settled);
	nsmod_output_destroy(&reader->output);
	mem_cgroup_put(reader->memcg);
	kvfree(reader);
}

static struct nsmod_reader *start(struct nsmod_reader *reader)
{
	const int err = enlist(reader);
	struct task_struct *thread = err ? ERR_PTR(err) : kthread_run(drain, reader, "nsmod-drain");

	if (IS_ERR(thread)) {
		free_reader(reader);
		return ERR_CAST(thread);
	}
	reader->thread = thread;
	return reader;
}

struct nsmod_reader *nsmod_reader_open(u32 session, u32 flags)
{
	struct nsmod_reader *reader = new_reader();
	int err = 0;

	if (!reader)
		return ERR_PTR(-ENOMEM);
	reader->rights = nsmod_rights_of_caller();
	reader->wanted_session = session;
	reader->is_snapshot = flags & NSLICE_READER_SNAPSHOT;
	if (session) /* in the caller's context, so that errors are returned to it */
		err = find_session(reader);
	if (err) {
		free_reader(reader);
		return ERR_PTR(err);
	}
	return start(reader);
}

struct nsmod_reader *nsmod_reader_open_plain(void)
{
	struct nsmod_reader *reader = new_reader();
	int err;

	if (!reader)
		return ERR_PTR(-ENOMEM);
	reader->rights = nsmod_rights_of_caller();
	err = nsmod_kernel_default_init(&reader->defaults);
	if (err) {
		free_reader(reader);
		return ERR_PTR(err);
	}
	return start(reader);
}

struct nsmod_reader *nsmod_reader_open_kernel(const struct nsmod_kernel_request *request)
{
	struct nsmod_reader *reader = new_reader();
	int err;

	if (!reader)
		return ERR_PTR(-ENOMEM);
	reader->is_kernel = true;
	reader->is_chunks_only = !(request->fixed.flags & NSLICE_KERNEL_WHOLE);
	err = reader->is_chunks_only ? 0 : write_header(reader);
	if (!err)
		err = nsmod_kernel_part_start(&reader->kernel, request, &reader->output);
	if (err) {
		free_reader(reader);
		return ERR_PTR(err);
	}
	return start(reader);
}

int nsmod_reader_select(struct nsmod_reader *reader, const char *slices)
{
	return reader->is_kernel ? nsmod_kernel_part_select(&reader->kernel, slices) : -EBADFD;
}

void nsmod_reader_end(struct nsmod_reader *reader)
{
	WRITE_ONCE(reader->is_ending, true);
	wake_up_interruptible(&nsmod_sessions_changed);
	wake_up(&reader->output.room);
}

ssize_t nsmod_reader_read(struct nsmod_reader *reader, struct iov_iter *to, bool is_nonblocking)
{
	return nsmod_output_read(&reader->output, to, is_nonblocking);
}

struct wait_queue_head *nsmod_reader_wait(struct nsmod_reader *reader)
{
	return &reader->output.readable;
}

bool nsmod_reader_is_readable(struct nsmod_reader *reader)
{
	return nsmod_output_is_readable(&reader->output);
}

void nsmod_reader_close(struct nsmod_reader *reader)
{
	kthread_stop(reader->thread);
	free_reader(reader);
}
