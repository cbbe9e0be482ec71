/* SPDX-License-Identifier: MIT */
/* Signals of writing: what would end the program (ulimit -f, a pipe's reader gone) -> the error of the call that met it. */
#ifndef NSP_WRITE_SIGNALS_H
#define NSP_WRITE_SIGNALS_H

#include <signal.h>

struct nsp_write_signals {
    sigset_t before;
    sigset_t held; /* SIGXFSZ and SIGPIPE, but for those that the program holds back itself */
};

/* Brackets around what writes or sizes files on a thread of the program's. */
void nsp_write_signals_hold(struct nsp_write_signals *signals);
void nsp_write_signals_release(struct nsp_write_signals *signals);

#endif /* NSP_WRITE_SIGNALS_H */
