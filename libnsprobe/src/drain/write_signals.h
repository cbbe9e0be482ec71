/* SPDX-License-Identifier: MIT */
/* Signals of writes (ulimit -f, a pipe without a reader) -> error of the failing call. */
#ifndef NSP_WRITE_SIGNALS_H
#define NSP_WRITE_SIGNALS_H

#include <signal.h>

struct nsp_write_signals {
    sigset_t before;
    sigset_t held; /* SIGXFSZ and SIGPIPE, except those that the program blocks itself */
};

/* Bracket code that writes or truncates files on a thread of the program. */
void nsp_write_signals_hold(struct nsp_write_signals *signals);
void nsp_write_signals_release(struct nsp_write_signals *signals);

#endif /* NSP_WRITE_SIGNALS_H */
