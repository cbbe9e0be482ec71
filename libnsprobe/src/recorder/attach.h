/* SPDX-License-Identifier: MIT */
/* Being recorded while running: a listening thread that takes sessions from `nsdump record --pid`. */
#ifndef NSP_ATTACH_H
#define NSP_ATTACH_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Starts the listener of this process; once.  0 or -errno. */
int nsp_attach_listen(void);

/* In a child of fork(), last: it listens under its own number where its parent listened. */
void nsp_attach_after_fork(void);

/* Abstract address of a process's listener; returns its length. */
socklen_t nsp_attach_address(int pid, struct sockaddr_un *address);

/* What the listener answers after a session's descriptor. */
struct nsp_attach_answer {
    int err; /* 0: joined */
    char words[508];
};

#endif /* NSP_ATTACH_H */
