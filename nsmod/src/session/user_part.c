// SPDX-License-Identifier: GPL-2.0
/* Announcements first, so that a site precedes its records; then each CPU's ring. */
#include "session/user_part.h"

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "chunks/output.h"
#include "session/session.h"

/*
 * Settings written by processes to the session's memory, read once.  They are
 * valid when the first process has joined, which may be after the reader was
 * opened: until then the rings are not read.
 */
static bool know_rings(struct nsmod_user_part *part)
{
	const struct nslice_session *header = nsmod_memory_header(&part->session->memory);
	bool is_overwrite, is_atomic;
	u32 cpu;

	/* pairs with the process's joining, before which it stores the settings of its rings */
	if (part->is_known || !smp_load_acquire(&header->joined))
		return part->is_known;
	is_overwrite = READ_ONCE(header->full) == NSLICE_FULL_OVERWRITE;
	is_atomic = READ_ONCE(header->ring_kind) == NSLICE_RING_ATOMIC;
	for (cpu = 0; cpu < part->session->memory.cpus; ++cpu) {
		part->rings[cpu].is_overwrite = is_overwrite;
		part->rings[cpu].is_atomic = is_atomic;
	}
	part->is_known = true;
	return true;
}

int nsmod_user_part_begin(struct nsmod_user_part *part, struct nsmod_session *session, bool is_snapshot)
{
	memset(part, 0, sizeof(*part));
	part->rings = is_snapshot ? nsmod_session_copy_rings(session) : session->rings;
	if (!part->rings)
		return -ENOMEM;
	part->session = session;
	part->is_snapshot = is_snapshot;
	return is_snapshot && !(know_rings(part) && part->rings[0].is_overwrite) ? -EINVAL : 0;
}

void nsmod_user_part_destroy(struct nsmod_user_part *part)
{
	if (part->is_snapshot)
		kvfree(part->rings);
	part->rings = NULL;
}

s64 nsmod_user_part_pass(struct nsmod_user_part *part, struct nsmod_output *output)
{
	const struct nsmod_session *session = part->session;
	s64 fullest = 0, taken;
	u64 announced;
	u32 cpu;
	int err;

	/* Records written while settling belong to the next reader, if any. */
	for (cpu = 0; cpu < session->memory.cpus && !part->is_settling; ++cpu)
		nsmod_ring_watch(&part->rings[cpu]);
	announced = nsmod_announcements_tail(&session->memory);
	err = nsmod_announcements_write(&part->announcements, &session->memory, output);
	if (err || !know_rings(part))
		return err;
	if (!part->is_settling && nsmod_announcements_are_awaited(&part->announcements, announced))
		return 0;
	for (cpu = 0; cpu < session->memory.cpus; ++cpu) {
		/* A flight recorder is only watched, and read when it is over or on request. */
		if (part->rings[cpu].is_overwrite && !part->is_settling)
			continue;
		taken = nsmod_ring_take_all(&part->rings[cpu], output);
		if (taken < 0)
			return taken;
		fullest = max(fullest, taken);
	}
	return fullest;
}

int nsmod_user_part_settle(struct nsmod_user_part *part, struct nsmod_output *output)
{
	struct nsmod_session *session = part->session;
	s64 taken;
	u32 cpu;
	int err;

	if (!part->is_settling) {
		part->goes_on = part->is_snapshot || !nsmod_session_is_over(session);
		for (cpu = 0; cpu < session->memory.cpus; ++cpu)
			nsmod_ring_watch(&part->rings[cpu]);
		part->is_settling = true;
	}
	taken = nsmod_user_part_pass(part, output);
	if (taken < 0)
		return taken;
	for (cpu = 0; cpu < session->memory.cpus; ++cpu)
		part->goes_on ? nsmod_ring_settle_snapshot(&part->rings[cpu]) : nsmod_ring_settle(&part->rings[cpu]);
	err = nsmod_announcements_settle(&part->announcements, &session->memory, output);
	part->is_settled = !err;
	return err;
}

u32 nsmod_user_part_rows(const struct nsmod_user_part *part, struct nslice_file_footer_cpu *rows)
{
	const struct nsmod_session *session = part->session;
	u32 cpu, count = 0;

	for (cpu = 0; cpu < session->memory.cpus; ++cpu) {
		nsmod_ring_row(&part->rings[cpu], &rows[count]);
		count += rows[count].issued > 0;
	}
	return count;
}
