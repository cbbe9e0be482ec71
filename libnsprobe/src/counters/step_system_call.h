/* SPDX-License-Identifier: MIT */
/* System calls while stepping: emulates those that would disable a thread's trap handler. */
#ifndef NSP_STEP_SYSTEM_CALL_H
#define NSP_STEP_SYSTEM_CALL_H

#include <ucontext.h>

#define NSP_SYSTEM_CALL_BYTES 2

/*
 * Whether the next instruction is a system call.  A trap while SIGTRAP is blocked or
 * uncaught ends the process, and C libraries briefly block every signal
 * (pthread_create) or reset all handlers in a child (posix_spawn).  Such a call is
 * emulated without its effect on SIGTRAP, and skipped.
 */
int nsp_step_at_system_call(ucontext_t *uc);

#endif /* NSP_STEP_SYSTEM_CALL_H */
