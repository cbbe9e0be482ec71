/* SPDX-License-Identifier: MIT */
/* Threads of the library in the program's process. */
#ifndef NSP_OWN_THREADS_H
#define NSP_OWN_THREADS_H

#include <pthread.h>

/*
 * As pthread_create(): a thread with this name that receives none of the program's signals.  It
 * does not keep a process alive whose main thread has ended by pthread_exit(): when only threads of
 * the library are left, the process exits with 0, as after pthread_exit() in its last thread.
 */
int nsp_own_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *given);

/* So many threads more, or less, belong to the library although others have started them. */
void nsp_own_threads_adopt(int more);

/* In a child of fork(), which has none of them. */
void nsp_own_threads_after_fork(void);

#endif /* NSP_OWN_THREADS_H */
