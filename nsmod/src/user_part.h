/* SPDX-License-Identifier: GPL-2.0 */
/* A session's part of a trace: announcements and rings -> chunks; totals -> the footer's rows. */
#ifndef NSMOD_USER_PART_H
#define NSMOD_USER_PART_H

#include <linux/types.h>

#include <nslice/file.h>

#include "announcements.h"

struct nsmod_output;
struct nsmod_drained_ring;
struct nsmod_session;

struct nsmod_user_part {
	struct nsmod_session *session;
	struct nsmod_drained_ring *rings; /* the session's, or for a snapshot a copy */
	bool is_snapshot;
	bool is_known;    /* what kind of rings it has: a process takes part */
	bool is_settling;
	bool goes_on;     /* while it is settled: a snapshot, or a reader that was told to end */
	bool is_settled;
	struct nsmod_announcements announcements;
};

/* 0, -ENOMEM, or -EINVAL: a snapshot of what is no flight recorder. */
int nsmod_user_part_begin(struct nsmod_user_part *part, struct nsmod_session *session, bool is_snapshot);
void nsmod_user_part_destroy(struct nsmod_user_part *part);

/* Bytes taken out of the fullest ring, or -errno (-ENOSPC: the output is full, call again when it is not). */
s64 nsmod_user_part_pass(struct nsmod_user_part *part, struct nsmod_output *output);

/* The end: what is there now, what is torn, what the announcements' writers left.  0 or -errno as above. */
int nsmod_user_part_settle(struct nsmod_user_part *part, struct nsmod_output *output);

/* Rows of CPUs that were used.  How many. */
u32 nsmod_user_part_rows(const struct nsmod_user_part *part, struct nslice_file_footer_cpu *rows);

#endif /* NSMOD_USER_PART_H */
