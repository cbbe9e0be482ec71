/* SPDX-License-Identifier: MIT */
/* First probe of a thread in a session with counters. */
#ifndef NSP_THREAD_BEGIN_H
#define NSP_THREAD_BEGIN_H

/* Opens the thread's counters for the current session; preserves the caller's vector registers. */
void nsp_thread_begin_counters(void);

/* Releases the calling thread's counters, of any source; its probes then write no counter words. */
void nsp_thread_release_counters(void);

#endif /* NSP_THREAD_BEGIN_H */
