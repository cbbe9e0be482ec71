/* SPDX-License-Identifier: MIT */
/* Single-stepping in process: a handler that counts the steps. */
#ifndef NSP_STEP_TRAP_H
#define NSP_STEP_TRAP_H

/*
 * Process: installs the handler, for every session, since the program may have replaced it.
 * Returns 0 or -errno.
 */
int nsp_step_catch_traps(void);

#endif /* NSP_STEP_TRAP_H */
