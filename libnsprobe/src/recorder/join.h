/* SPDX-License-Identifier: MIT */
/* Joining a session that another process (nsdump) drains. */
#ifndef NSP_JOIN_H
#define NSP_JOIN_H

/* The environment variable that passes a session's descriptor to a started program. */
#define NSP_SESSION_FD_VARIABLE "NETSLICE_SESSION_FD"

/*
 * Returns 1 if the environment names a session and this process joined or was refused (reported on
 * standard error).
 */
int nsp_join_from_environment(void);

/*
 * Joins the session of fd for a recorder that attaches to the running process; takes over fd on
 * success.  Returns 0 or -errno; the reason of a refusal is also stored in the session's memory.
 */
int nsp_join_recorder(int fd);

/* Turns probes off and announces the end calibration. */
void nsp_leave(void);

int nsp_is_joined(void);

/*
 * A child of a program started under a recorder continues writing to the shared rings; others do
 * not participate.
 */
void nsp_join_after_fork(void);

#endif /* NSP_JOIN_H */
