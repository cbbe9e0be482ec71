/* SPDX-License-Identifier: MIT */
/* Random thinning: a thread that switches probes inside slices off and on, and announces it. */
#ifndef NSP_THINNER_H
#define NSP_THINNER_H

#include "session/shm.h"

/*
 * Starts the thread of this process, if its session asks for thinning.  Without the thread, all
 * probes stay on: a reason is printed on standard error.
 */
void nsp_thinner_start(const struct nsp_shm_map *map);

/* Ends the thread, if there is one; its last epochs are announced. */
void nsp_thinner_stop(void);

/* In a child of fork(), which has no such thread: its probes are on. */
void nsp_thinner_after_fork(void);

#endif /* NSP_THINNER_H */
