/* SPDX-License-Identifier: MIT */
/* Which processes have a session's memory. */
#ifndef NSP_PART_H
#define NSP_PART_H

#include "session/shm.h"

/*
 * Returns a process's enum nsp_part, or -errno.  -EACCES: permission denied; -ENOENT, -ESRCH: it no
 * longer exists.
 */
int nsp_part_of(const struct nsp_shm_map *map, int pid);

#endif /* NSP_PART_H */
