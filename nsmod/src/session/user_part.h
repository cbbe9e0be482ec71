/* SPDX-License-Identifier: GPL-2.0 */
/* A session's part of a trace: announcements and rings -> chunks; totals -> the footer's rows. */
#ifndef NSMOD_USER_PART_H
#define NSMOD_USER_PART_H

#include <linux/types.h>

#include <nslice/file.h>

#include "session/announcements.h"

struct nsmod_output;
struct nsmod_drained_ring;
struct nsmod_session;

struct nsmod_user_part {
	struct nsmod_session *session;
	struct nsmod_drained_ring *rings; /* the session's, or a copy for a snapshot */
	bool is_snapshot;
	bool is_known;    /* the kind of its rings, because a process has joined */
	bool is_settling;
	bool goes_on;     /* the session continues: a snapshot, or a reader ended by request */
	bool is_settled;
	struct nsmod_announcements announcements;
};

/* 0, -ENOMEM, or -EINVAL: a snapshot of a session that is not a flight recorder. */
int nsmod_user_part_begin(struct nsmod_user_part *part, struct nsmod_session *session, bool is_snapshot);
void nsmod_user_part_destroy(struct nsmod_user_part *part);

/*
 * Bytes taken from the fullest ring, or -errno (-ENOSPC: the output is full,
 * call again when it has room).
 */
s64 nsmod_user_part_pass(struct nsmod_user_part *part, struct nsmod_output *output);

/* The end: remaining records, torn records, remaining announcements.  0 or -errno as above. */
int nsmod_user_part_settle(struct nsmod_user_part *part, struct nsmod_output *output);

/* Rows of the CPUs that were used.  Returns their number. */
u32 nsmod_user_part_rows(const struct nsmod_user_part *part, struct nslice_file_footer_cpu *rows);

#endif /* NSMOD_USER_PART_H */
