/* SPDX-License-Identifier: MIT */
/* Limit of file sizes (ulimit -f): a signal that ends the program -> the error EFBIG of the call that met it. */
#ifndef NSP_SIZE_LIMIT_H
#define NSP_SIZE_LIMIT_H

#include <signal.h>

struct nsp_size_limit {
    sigset_t before;
    int is_blocked; /* by nsp_size_limit_enter() and nobody else */
};

/* Brackets around what writes or sizes files on a thread of the program's. */
void nsp_size_limit_enter(struct nsp_size_limit *limit);
void nsp_size_limit_leave(struct nsp_size_limit *limit);

#endif /* NSP_SIZE_LIMIT_H */
