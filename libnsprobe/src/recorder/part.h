/* SPDX-License-Identifier: MIT */
/* Who has a session's memory. */
#ifndef NSP_PART_H
#define NSP_PART_H

#include "session/shm.h"

/* enum nsp_part of a process, or -errno: the kernel does not show this process (-EACCES), it is gone (-ENOENT, -ESRCH). */
int nsp_part_of(const struct nsp_shm_map *map, int pid);

#endif /* NSP_PART_H */
