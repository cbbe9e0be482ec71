/* SPDX-License-Identifier: MIT */
/* One process's part in a session: settings in the session's memory -> probes on; and off again. */
#ifndef NSP_PROCESS_H
#define NSP_PROCESS_H

#include "shm.h"

/* The process's counters and probes are one session's, or one calibration's, at a time.  1: they are the caller's now. */
int nsp_process_claim(void);
void nsp_process_disclaim(void);

/*
 * Whether a process like this one could have such a session: counters and ring kind.
 * 0, or -errno with words; 0 also while this process is in a session itself.
 */
int nsp_process_check(const struct nsp_session_config *config);

/* What its probes do (NSP_DETAIL_MODE_*) with the counter source that was chosen. */
uint32_t nsp_probe_mode(uint32_t counters, uint32_t ring_kind, int ordered);

/*
 * Chooses ring kind and counter source, calibrates, announces settings and
 * sites, and turns the probes on.  0 or -errno (-EBUSY: it is in a
 * session already); nothing is left behind then.
 */
int nsp_process_begin(const struct nsp_shm_map *map);

/*
 * Probes off, and the rings closed where this process alone writes to them.  When it
 * returns no thread of this process is inside a restartable sequence that began before.
 */
void nsp_process_stop(int close_rings);

/* Second calibration and its announcement; sites wait for the next session. */
void nsp_process_end(void);

/* In a child of fork(): probes off, unless the rings are drained by another process. */
void nsp_process_after_fork(int keep);

/* Whether glibc has registered rseq for the threads of this process. */
int nsp_has_rseq(void);

#endif /* NSP_PROCESS_H */
