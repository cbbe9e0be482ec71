/* SPDX-License-Identifier: MIT */
/* Counter sources: a table of operations for each. */
#ifndef NSP_COUNTERS_H
#define NSP_COUNTERS_H

#include <stdint.h>

#include <nslice/record.h>

#include "perf_counter.h"
#include "writer/thread.h"

struct nsp_counter_ops {
    const char *name; /* as in the trace: rdpmc, perf-read, papi, step, none */

    /*
     * Process: checks that the `count` counters in `names` are available and prepares.
     * Returns 0, or -errno with the reason and the remedy in nsp_last_error().
     */
    int (*open)(const char *const *names, uint32_t count);

    /*
     * Thread: opens its counters; called at its first probe, with vector registers
     * saved, after nsp_thread_release_counters().  Returns 0 or -errno.  Sets
     * nsp_thread.release to free the counters before the thread's next session; when the
     * thread ends they are freed automatically.
     */
    int (*thread_begin)(void);

    /*
     * Thread, at every START and STOP: stores the current totals in words.  Returns 1, or 0
     * if they are unavailable now (descriptor lost, multiplexed): the record then has no
     * words.  Built without vector instructions; calls no library.
     */
    int (*read)(uint64_t *words, uint32_t count);
};

extern const struct nsp_counter_ops nsp_source_rdpmc;
extern const struct nsp_counter_ops nsp_source_perf_read;
extern const struct nsp_counter_ops nsp_source_papi;
extern const struct nsp_counter_ops nsp_source_step;

/* The source of the current session; NULL: none. */
extern const struct nsp_counter_ops *nsp_active_source;

/* Incremented with every session, so that a thread detects counters of an older one. */
extern uint32_t nsp_session_generation;

/* Events after which the registers of rdpmc and perf-read overflow; 0: as late as possible. */
extern uint64_t nsp_counter_period;

/* The step source counts every n-th unit. */
extern uint32_t nsp_step_every;

/* Nonzero while the calling thread steps through a calibration, with or without a session. */
extern NSP_THREAD_LOCAL int nsp_step_calibrating;

/* Nonzero: EXIT does not choose whether the next unit is counted. */
extern NSP_THREAD_LOCAL int nsp_step_keep_skip;

/* The read operations in src/writer/counters_*read.c, built without vector instructions. */
int nsp_step_read(uint64_t *words, uint32_t count);
int nsp_rdpmc_read(uint64_t *words, uint32_t count);
int nsp_perf_read(uint64_t *words, uint32_t count);
int nsp_papi_read(uint64_t *words, uint32_t count);

/* In a child of fork(), for the calling thread: its counters count the parent's thread. */
void nsp_perf_after_fork(void);
void nsp_papi_after_fork(void);

/* One thread's perf events, for the two sources that use them. */
struct nsp_perf_thread {
    uint32_t count;
    struct nsp_perf_counter counter[NSLICE_MAX_COUNTERS];
};

/*
 * The same for counters that the calling thread opened, with or without a session; adds the cost of
 * torn readings to counter[i].detour.
 */
int nsp_rdpmc_read_of(const struct nsp_perf_thread *thread, struct nsp_thread_counter *counter,
                      uint64_t *words, uint32_t count);
int nsp_perf_read_of(const struct nsp_perf_thread *thread, uint64_t *words, uint32_t count);

#endif /* NSP_COUNTERS_H */
