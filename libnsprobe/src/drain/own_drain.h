/* SPDX-License-Identifier: MIT */
/* Drain of a process's own session: a thread that empties the rings into the trace file. */
#ifndef NSP_OWN_DRAIN_H
#define NSP_OWN_DRAIN_H

#include <nsprobe/recorder.h>
#include <nsprobe/session.h>

#include "session/shm.h"

/* One drain at a time; the caller holds session.c's lock. */

/* Opens the trace file; given >= 0: an open descriptor of it.  Returns 0 or -errno. */
int nsp_own_drain_open(const struct nsp_shm_map *map, const char *path, int given);

/* The process now participates: begins the file and starts the thread.  Returns 0 or -errno. */
int nsp_own_drain_start(void);

/* Policy overwrite: writes the current contents of the rings.  Returns 0 or the file's -errno. */
int nsp_own_drain_snapshot(void);

/* As nsp_session_add_kernel() and nsp_session_end_kernel(), of a session that is open. */
int nsp_own_drain_add_kernel(const struct nsp_session_kernel *kernel);
int nsp_own_drain_end_kernel(struct nsp_session_counts *counts);
int nsp_own_drain_has_kernel(void);

/* Call after the rings were closed: ends the thread. */
void nsp_own_drain_stop(void);

/* Drains the rest and writes the footer, as nsp_drain_finish(). */
int nsp_own_drain_finish(struct nsp_session_counts *counts);

/* The session could not be opened: removes the file. */
void nsp_own_drain_abandon(void);

/* In a child of fork(), which has neither the thread nor ownership of the file. */
void nsp_own_drain_after_fork(int has_file);

#endif /* NSP_OWN_DRAIN_H */
