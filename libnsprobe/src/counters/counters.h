/* SPDX-License-Identifier: MIT */
/* Counter sources: one table of operations each. */
#ifndef NSP_COUNTERS_H
#define NSP_COUNTERS_H

#include <stdint.h>

#include <nslice/record.h>

#include "perf_counter.h"
#include "writer/thread.h"

struct nsp_counter_ops {
    const char *name; /* as it stands in the trace: rdpmc, perf-read, papi, step, none */

    /*
     * Process: checks that `names` (count of them) can be had and gets ready.
     * 0, or -errno with nsp_last_error() saying what is missing and what would work.
     */
    int (*open)(const char *const *names, uint32_t count);

    /*
     * Thread: opens its counters; called at its first probe, with vector registers
     * saved, after nsp_thread_release_counters().  0 or -errno.  What it holds it
     * names in nsp_thread.release, for the thread's next session; at its end it goes
     * by itself.
     */
    int (*thread_begin)(void);

    /*
     * Thread, at every START and STOP: current totals into words.  1, or 0 when
     * they cannot be told now (lost their place, multiplexed): the record then
     * goes without words.  Built without vector instructions, no library call.
     */
    int (*read)(uint64_t *words, uint32_t count);
};

extern const struct nsp_counter_ops nsp_source_rdpmc;
extern const struct nsp_counter_ops nsp_source_perf_read;
extern const struct nsp_counter_ops nsp_source_papi;
extern const struct nsp_counter_ops nsp_source_step;

/* The source that serves the session now; NULL: none. */
extern const struct nsp_counter_ops *nsp_active_source;

/* Goes up with every session, so that a thread knows its counters are of an older one. */
extern uint32_t nsp_session_generation;

/* Units that the step source counts: every n-th. */
extern uint32_t nsp_step_every;

/* Nonzero while the calling thread steps through a calibration, with or without a session. */
extern NSP_THREAD_LOCAL int nsp_step_calibrating;

/* Nonzero: EXIT does not choose whether the next unit is counted. */
extern NSP_THREAD_LOCAL int nsp_step_keep_skip;

/* The read operations; src/counters_*read.c, built without vector instructions. */
int nsp_step_read(uint64_t *words, uint32_t count);
int nsp_rdpmc_read(uint64_t *words, uint32_t count);
int nsp_perf_read(uint64_t *words, uint32_t count);
int nsp_papi_read(uint64_t *words, uint32_t count);

/* In a child of fork(), for the thread that called it: its counters count the parent's thread. */
void nsp_perf_after_fork(void);
void nsp_papi_after_fork(void);

/* One thread's perf events, for the two sources that use them. */
struct nsp_perf_thread {
    uint32_t count;
    struct nsp_perf_counter counter[NSLICE_MAX_COUNTERS];
};

/* The same of counters that the calling thread has opened, for a session or not; counter[i].detour grows by what torn readings took. */
int nsp_rdpmc_read_of(const struct nsp_perf_thread *thread, struct nsp_thread_counter *counter, uint64_t *words, uint32_t count);
int nsp_perf_read_of(const struct nsp_perf_thread *thread, uint64_t *words, uint32_t count);

#endif /* NSP_COUNTERS_H */
