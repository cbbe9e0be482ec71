/* SPDX-License-Identifier: MIT */
/* Are this process's thread ids those of the whole machine, as the kernel's records have them? */
#ifndef NSP_PID_NAMESPACE_H
#define NSP_PID_NAMESPACE_H

#include <stddef.h>

/* An INFO line for a process whose ids are of a pid namespace of its own, or may be; empty where they are the machine's.
   The length.  To be called in a child of fork, too. */
size_t nsp_pid_namespace_text(char *text, size_t room);

#endif /* NSP_PID_NAMESPACE_H */
