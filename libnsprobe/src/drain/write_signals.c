/* SPDX-License-Identifier: MIT */
/* Signals of writes: blocked, and discarded if they were raised. */
#define _GNU_SOURCE
#include "write_signals.h"

#include <pthread.h>
#include <time.h>

void nsp_write_signals_hold(struct nsp_write_signals *signals)
{
    static const int numbers[] = {SIGXFSZ, SIGPIPE};

    pthread_sigmask(SIG_SETMASK, NULL, &signals->before);
    sigemptyset(&signals->held);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i)
        if (!sigismember(&signals->before, numbers[i]))
            sigaddset(&signals->held, numbers[i]);
    pthread_sigmask(SIG_BLOCK, &signals->held, NULL);
}

void nsp_write_signals_release(struct nsp_write_signals *signals)
{
    const struct timespec none = {0, 0};

    while (sigtimedwait(&signals->held, NULL, &none) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
}
