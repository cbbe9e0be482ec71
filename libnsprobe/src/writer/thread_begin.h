/* SPDX-License-Identifier: MIT */
/* First probe of a thread in a session with counters. */
#ifndef NSP_THREAD_BEGIN_H
#define NSP_THREAD_BEGIN_H

/* Opens the thread's counters for the running session; keeps every vector register of the caller. */
void nsp_thread_begin_counters(void);

/* Gives back the calling thread's counters, of whatever source; its probes go without from then on. */
void nsp_thread_release_counters(void);

#endif /* NSP_THREAD_BEGIN_H */
