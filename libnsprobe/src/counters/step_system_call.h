/* SPDX-License-Identifier: MIT */
/* System calls under stepping: those that would leave a thread without its trap handler are answered here. */
#ifndef NSP_STEP_SYSTEM_CALL_H
#define NSP_STEP_SYSTEM_CALL_H

#include <ucontext.h>

#define NSP_SYSTEM_CALL_BYTES 2

/*
 * Whether a system call comes next.  A trap that meets a blocked or uncaught
 * SIGTRAP ends the process, and C libraries block every signal for a moment
 * (pthread_create) or reset all handlers in a child (posix_spawn).  So such a
 * call is carried out for SIGTRAP's part in name only, and skipped.
 */
int nsp_step_at_system_call(ucontext_t *uc);

#endif /* NSP_STEP_SYSTEM_CALL_H */
