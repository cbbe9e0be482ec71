/* SPDX-License-Identifier: MIT */
/* Whether this process's thread ids are those of the whole machine, as in kernel records. */
#ifndef NSP_PID_NAMESPACE_H
#define NSP_PID_NAMESPACE_H

#include <stddef.h>

/*
 * Stores an INFO line for a process whose ids are, or may be, those of another pid namespace; empty
 * if they are the machine's.  Returns the length.  May be called in a child of fork().
 */
size_t nsp_pid_namespace_text(char *text, size_t room);

#endif /* NSP_PID_NAMESPACE_H */
