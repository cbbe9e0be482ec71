/* SPDX-License-Identifier: MIT */
/* Recording a running process: a thread that accepts sessions from `nsdump record --pid`. */
#ifndef NSP_ATTACH_H
#define NSP_ATTACH_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <nslice/session.h>

/* Starts the listener of this process, once.  Returns 0 or -errno. */
int nsp_attach_listen(void);

/*
 * Starts the same listener for control requests alone, once: others may change the rules of this
 * process's session.  Returns 0 or -errno.
 */
int nsp_control_listen(void);

/*
 * In a child of fork(), last: if the parent listened, the child listens under its own process id.
 */
void nsp_attach_after_fork(void);

/* Abstract socket address of a process's listener; returns its length. */
socklen_t nsp_attach_address(int pid, struct sockaddr_un *address);

/* A control request: this, and the rules. */
#define NSP_CONTROL_SLICES "slices="
#define NSP_CONTROL_BYTES (NSLICE_SESSION_SLICES_TEXT + sizeof(NSP_CONTROL_SLICES))

/* The listener's answer to a session's descriptor or a control request. */
struct nsp_attach_answer {
    int err;         /* 0: joined, or done */
    char words[508]; /* the error, or lines of warnings */
};

#endif /* NSP_ATTACH_H */
