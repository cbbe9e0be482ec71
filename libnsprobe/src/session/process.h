/* SPDX-License-Identifier: MIT */
/* A process in a session: settings in the session's memory -> probes on; and off again. */
#ifndef NSP_PROCESS_H
#define NSP_PROCESS_H

#include "shm.h"

/*
 * The process's counters and probes belong to one session or calibration at a time.  1: the caller
 * owns them now.
 */
int nsp_process_claim(void);
void nsp_process_disclaim(void);

/*
 * Whether a process like this one could have such a session: counters and ring kind.  Returns 0, or
 * -errno with the reason in nsp_last_error(); also 0 while this process is in a session itself.
 */
int nsp_process_check(const struct nsp_session_config *config);

/* The mode of its probes (NSP_DETAIL_MODE_*) with the chosen counter source. */
uint32_t nsp_probe_mode(uint32_t counters, uint32_t ring_kind, int ordered);

/*
 * Chooses ring kind and counter source, calibrates, announces settings and
 * sites, and turns the probes on.  Returns 0 or -errno (-EBUSY: it is in a
 * session already) without side effects.
 */
int nsp_process_begin(const struct nsp_shm_map *map);

/*
 * Turns the probes off, and closes the rings if only this process writes to them.  On
 * return, no thread of this process is inside a restartable sequence begun before.
 */
void nsp_process_stop(int close_rings);

/* Runs and announces the second calibration; sites wait for the next session. */
void nsp_process_end(void);

/*
 * New rules for which slices of this process its session records (sites/selection.h); the trace
 * gets them.  Returns 0 or -errno.  Any thread.
 */
int nsp_process_select(const char *rules);

/* In a child of fork(): turns the probes off, unless another process drains the rings. */
void nsp_process_after_fork(int keep);

/* Whether glibc has registered rseq for the threads of this process. */
int nsp_has_rseq(void);

#endif /* NSP_PROCESS_H */
