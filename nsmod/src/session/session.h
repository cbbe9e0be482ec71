/* SPDX-License-Identifier: GPL-2.0 */
/* Sessions: rings that outlive their processes.  Created by one open file, read by another. */
#ifndef NSMOD_SESSION_H
#define NSMOD_SESSION_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include <nslice/control.h>

#include "chunks/drained_ring.h"
#include "session/session_memory.h"

struct nsmod_session {
	struct kref ref;
	struct list_head node; /* in the list of sessions, until is_gone */
	u32 id;
	u32 flags;   /* NSLICE_SESSION_* */
	pid_t pid;   /* of its creator */
	kuid_t uid;
	char command[TASK_COMM_LEN];
	struct nsmod_memory memory;

	/* protected by the lock of sessions */
	bool has_reader;
	bool is_released;      /* no open file is left */
	bool is_over;          /* and no mapping: there are no writers any more */
	bool ended_in_order;   /* by NSLICE_IOC_END */
	bool is_gone;          /* removed from the list */
	bool holds_module;

	/* used by the drain: the reader, or the watch if there is none */
	struct nsmod_drained_ring *rings;
};

/* Adds a session of the calling process to the list.  The caller gets a reference, or ERR_PTR(). */
struct nsmod_session *nsmod_session_create(u64 ring_bytes, u32 flags);

void nsmod_session_put(struct nsmod_session *session);

/* NSLICE_IOC_END; release of its last open file. */
void nsmod_session_end(struct nsmod_session *session);
void nsmod_session_release(struct nsmod_session *session);

/*
 * Which sessions a caller may read.  Determined in the caller's context,
 * because the drain's thread is privileged.
 */
struct nsmod_rights {
	kuid_t uid;
	bool reads_all;
};

struct nsmod_rights nsmod_rights_of_caller(void);

/*
 * For a reader: the session with this id, or with 0 the oldest that waits for a
 * reader.  The caller gets a reference and, except for a snapshot, is its only
 * reader.  -ENOENT: none (yet); -EBUSY: it has a reader or is drained by its
 * process; -EACCES: it belongs to another user.
 */
struct nsmod_session *nsmod_session_adopt(u32 id, bool is_snapshot, const struct nsmod_rights *rights);

/* The reader is closed; `is_drained`: it has read everything. */
void nsmod_session_leave(struct nsmod_session *session, bool is_drained);

/*
 * Copy of the drain state of its rings, for a snapshot.  The caller must
 * kvfree() it; NULL: no memory.
 */
struct nsmod_drained_ring *nsmod_session_copy_rings(struct nsmod_session *session);

bool nsmod_session_is_over(struct nsmod_session *session);
bool nsmod_session_ended_in_order(struct nsmod_session *session);

/* Fills in up to `room` sessions that the caller may read.  Returns their total number. */
u32 nsmod_session_list(struct nslice_session_entry *entries, u32 room);

/* Woken when sessions are created or end. */
extern struct wait_queue_head nsmod_sessions_changed;

int nsmod_sessions_init(void);
void nsmod_sessions_exit(void);

#endif /* NSMOD_SESSION_H */
