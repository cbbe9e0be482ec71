/* SPDX-License-Identifier: MIT */
/* Taking part in a session that another process (nsdump) drains. */
#ifndef NSP_JOIN_H
#define NSP_JOIN_H

/* The environment variable that hands a session's descriptor to a started program. */
#define NSP_SESSION_FD_VARIABLE "NETSLICE_SESSION_FD"

/* 1 when the environment names a session and this process takes part or was refused (told on standard error). */
int nsp_join_from_environment(void);

/*
 * Joins the session behind fd for a recorder that came while the process runs; takes fd over when it succeeds.
 * 0 or -errno; the refusal stands in the session's memory, too.
 */
int nsp_join_recorder(int fd);

/* Probes off, end calibration announced. */
void nsp_leave(void);

int nsp_is_joined(void);

/* A child of a program that was started under a recorder goes on writing into the shared rings; others do not take part. */
void nsp_join_after_fork(void);

#endif /* NSP_JOIN_H */
