/* SPDX-License-Identifier: GPL-2.0 */
/* Sessions: rings of processes that outlive them.  Made by one open file, read by another. */
#ifndef NSMOD_SESSION_H
#define NSMOD_SESSION_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include <nslice/control.h>

#include "drained_ring.h"
#include "session_memory.h"

struct nsmod_session {
	struct kref ref;
	struct list_head node; /* in the list of all, until it is gone */
	u32 id;
	u32 flags;   /* NSLICE_SESSION_* */
	pid_t pid;   /* of who made it */
	kuid_t uid;
	char command[TASK_COMM_LEN];
	struct nsmod_memory memory;

	/* under the lock of sessions */
	bool has_reader;
	bool is_released;      /* no open file is left */
	bool is_over;          /* nor a mapping: nobody writes any more */
	bool ended_in_order;   /* by NSLICE_IOC_END */
	bool is_gone;          /* out of the list */
	bool holds_module;

	/* of the drain: the reader, or the watch while there is none */
	struct nsmod_drained_ring *rings;
};

/* A session of the calling process, in the list.  The caller has a reference.  Or ERR_PTR(). */
struct nsmod_session *nsmod_session_create(u64 ring_bytes, u32 flags);

void nsmod_session_put(struct nsmod_session *session);

/* NSLICE_IOC_END; the last open file of it is gone. */
void nsmod_session_end(struct nsmod_session *session);
void nsmod_session_release(struct nsmod_session *session);

/* Whose sessions somebody may read.  Taken where the kernel knows the caller, since the drain's thread may do anything. */
struct nsmod_rights {
	kuid_t uid;
	bool reads_all;
};

struct nsmod_rights nsmod_rights_of_caller(void);

/*
 * For a reader: the session with this id, or with 0 the oldest that waits for one.  The caller gets a reference and, but for a
 * snapshot, is its only reader.  -ENOENT: none (yet); -EBUSY: it has a reader, or its process drains it; -EACCES: another user's.
 */
struct nsmod_session *nsmod_session_adopt(u32 id, bool is_snapshot, const struct nsmod_rights *rights);

/* The reader goes; `is_drained`: with all that there was. */
void nsmod_session_leave(struct nsmod_session *session, bool is_drained);

/* The state of its rings' drain, for a snapshot.  The caller's to kvfree(); NULL: no memory. */
struct nsmod_drained_ring *nsmod_session_copy_rings(struct nsmod_session *session);

bool nsmod_session_is_over(struct nsmod_session *session);
bool nsmod_session_ended_in_order(struct nsmod_session *session);

/* Entries of sessions that the caller may read, up to `room`.  How many there are. */
u32 nsmod_session_list(struct nslice_session_entry *entries, u32 room);

/* Wakes up whoever waits for sessions to come or to end. */
extern struct wait_queue_head nsmod_sessions_changed;

int nsmod_sessions_init(void);
void nsmod_sessions_exit(void);

#endif /* NSMOD_SESSION_H */
