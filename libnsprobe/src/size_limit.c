/* SPDX-License-Identifier: MIT */
/* Limit of file sizes: SIGXFSZ is held back, and taken away if it came. */
#define _GNU_SOURCE
#include "size_limit.h"

#include <pthread.h>
#include <time.h>

void nsp_size_limit_enter(struct nsp_size_limit *limit)
{
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &one, &limit->before);
    limit->is_blocked = !sigismember(&limit->before, SIGXFSZ);
}

void nsp_size_limit_leave(struct nsp_size_limit *limit)
{
    const struct timespec none = {0, 0};
    sigset_t one;

    if (!limit->is_blocked)
        return;
    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    while (sigtimedwait(&one, NULL, &none) == SIGXFSZ)
        ;
    pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
}
