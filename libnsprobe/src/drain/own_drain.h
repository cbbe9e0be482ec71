/* SPDX-License-Identifier: MIT */
/* The drain of a process's own session: a thread that empties the rings into the trace file.  One at a time; the caller holds session.c's lock. */
#ifndef NSP_OWN_DRAIN_H
#define NSP_OWN_DRAIN_H

#include <nsprobe/session.h>

#include "session/shm.h"

/* Opens the trace file; given >= 0: a descriptor of it.  0 or -errno. */
int nsp_own_drain_open(const struct nsp_shm_map *map, const char *path, int given);

/* The process takes part now: the file begins, the thread runs.  0 or -errno. */
int nsp_own_drain_start(void);

/* Writes what the rings hold now and goes on; policy overwrite.  0 or -errno of the file. */
int nsp_own_drain_snapshot(void);

/* After the rings were closed: the thread ends. */
void nsp_own_drain_stop(void);

/* The rest, the footer.  As nsp_drain_finish(). */
int nsp_own_drain_finish(struct nsp_session_counts *counts);

/* The session did not come about: the file goes. */
void nsp_own_drain_abandon(void);

/* In a child of fork(), which has neither the thread nor the right to the file. */
void nsp_own_drain_after_fork(int has_file);

#endif /* NSP_OWN_DRAIN_H */
