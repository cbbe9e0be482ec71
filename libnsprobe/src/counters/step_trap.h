/* SPDX-License-Identifier: MIT */
/* Single steps in process: a handler that counts them. */
#ifndef NSP_STEP_TRAP_H
#define NSP_STEP_TRAP_H

/* Process: installs the handler; again at every session, since the program may have set the signal anew.  0 or -errno. */
int nsp_step_catch_traps(void);

#endif /* NSP_STEP_TRAP_H */
