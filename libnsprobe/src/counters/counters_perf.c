/* SPDX-License-Identifier: MIT */
/* Counter sources `rdpmc` and `perf-read`: the session's events -> perf counters per thread. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "counters.h"
#include "event.h"
#include "perf_counter.h"
#include "writer/counted_block.h"
#include "writer/thread.h"

uint64_t nsp_counter_period;
static struct nsp_event chosen[NSLICE_MAX_COUNTERS];
static uint32_t chosen_count;
static pthread_key_t thread_key;
static pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;

static void close_counters(struct nsp_perf_thread *thread)
{
    for (uint32_t i = 0; i < thread->count; ++i)
        nsp_perf_counter_close(&thread->counter[i]);
    thread->count = 0;
}

/* A pinned counter that found no register never returns a value. */
static int has_register(const struct nsp_perf_counter *counter)
{
    uint64_t answer[4]; /* value, time enabled, time running, id */

    for (uint32_t kind = 0; kind < counter->kinds; ++kind)
        if (read(counter->fd[kind], answer, sizeof(answer)) != (ssize_t)sizeof(answer))
            return 0;
    return 1;
}

/*
 * Tries all of them at once on this thread, so that a refusal shows at the start and not at the
 * first probe.
 */
static int try_all(struct nsp_perf_thread *trial, const char *const *names, uint32_t count,
                   int need_user_reads)
{
    for (uint32_t i = 0; i < count; ++i) {
        int err;

        if (need_user_reads)
            nsp_perf_ask_for_user_reads(&chosen[i]);
        err = nsp_perf_counter_open(&chosen[i], &trial->counter[i]);
        if (err)
            return nsp_perf_explain_refusal(names[i], &chosen[i], -err);
        trial->count = i + 1;
        if (need_user_reads && !nsp_perf_counter_has_user_reads(&trial->counter[i]))
            return nsp_perf_explain_no_user_reads(names[i]);
    }
    for (uint32_t i = 0; i < count; ++i)
        if (!has_register(&trial->counter[i]))
            return nsp_perf_explain_no_register(names[i], count);
    return 0;
}

static int open_source(const char *const *names, uint32_t count, int need_user_reads)
{
    struct nsp_perf_thread trial = {0};
    int err;

    for (uint32_t i = 0; i < count; ++i) {
        err = nsp_event_find(names[i], &chosen[i]);
        if (err)
            return err;
    }
    chosen_count = count;
    err = try_all(&trial, names, count, need_user_reads);
    close_counters(&trial);
    return err;
}

static int rdpmc_open(const char *const *names, uint32_t count)
{
    return open_source(names, count, 1);
}

static int perf_read_open(const char *const *names, uint32_t count)
{
    return open_source(names, count, 0);
}

static void release_thread(void *value)
{
    struct nsp_perf_thread *thread = value;

    /* A later probe, in a later destructor, must not access freed counters. */
    nsp_thread.counters_failed = 1;
    nsp_thread.registers_of = 0;
    nsp_thread.release = NULL;
    nsp_thread.counters = NULL;
    for (uint32_t i = 0; i < NSLICE_MAX_COUNTERS; ++i)
        nsp_thread.counter[i].page = NULL;
    nsp_counted_forget();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    close_counters(thread);
    free(thread);
}

static void release_calling_thread(void)
{
    pthread_setspecific(thread_key, NULL); /* else the thread's exit would release it again */
    release_thread(nsp_thread.counters);
}

void nsp_perf_after_fork(void)
{
    struct nsp_perf_thread *thread = nsp_thread.counters;

    if (!thread)
        return;
    nsp_thread.registers_of = 0;
    for (uint32_t i = 0; i < thread->count; ++i)
        for (uint32_t kind = 0; kind < thread->counter[i].kinds; ++kind)
            close(thread->counter[i].fd[kind]); /* the pages are not mapped in a child */
    free(thread);
    nsp_thread.release = NULL;
    nsp_thread.counters = NULL;
    pthread_setspecific(thread_key, NULL);
}

static void make_key(void)
{
    pthread_key_create(&thread_key, release_thread);
}

static int open_for_thread(struct nsp_perf_thread *thread)
{
    for (uint32_t i = 0; i < chosen_count; ++i) {
        if (nsp_perf_counter_open(&chosen[i], &thread->counter[i]))
            return -EMFILE;
        thread->count = i + 1;
        /* perf_event_mlock_kb is used up */
        if (nsp_active_source == &nsp_source_rdpmc &&
            !nsp_perf_counter_has_user_reads(&thread->counter[i]))
            return -ENOMEM;
    }
    return 0;
}

/* The assembly reads counters with one event; with several kinds of core, C code does. */
static void tell_assembly(const struct nsp_perf_thread *thread)
{
    for (uint32_t i = 0; i < thread->count; ++i) {
        const struct nsp_perf_counter *counter = &thread->counter[i];

        if (counter->kinds != 1)
            return;
        nsp_thread.counter[i].page = counter->page[0];
    }
    /* A signal handler's probe reads the table as soon as this is set. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    nsp_thread.registers_of = nsp_thread.generation;
    if (!nsp_thread.state || nsp_thread.state->mode != NSP_DETAIL_MODE_COUNTED)
        return;
    nsp_thread.counters_failed = 0; /* as it will be: what is measured includes the record */
    nsp_counted_measure_costs(nsp_thread.state);
}

static int perf_thread_begin(void)
{
    struct nsp_perf_thread *thread;
    int err;

    pthread_once(&thread_key_once, make_key);
    thread = calloc(1, sizeof(*thread));
    if (!thread)
        return -ENOMEM;
    err = open_for_thread(thread);
    if (err) {
        release_thread(thread);
        return err;
    }
    nsp_thread.counters = thread;
    nsp_thread.release = release_calling_thread;
    pthread_setspecific(thread_key, thread);
    if (nsp_active_source == &nsp_source_rdpmc)
        tell_assembly(thread);
    return 0;
}

const struct nsp_counter_ops nsp_source_rdpmc = {
    .name = "rdpmc",
    .open = rdpmc_open,
    .thread_begin = perf_thread_begin,
    .read = nsp_rdpmc_read,
};

const struct nsp_counter_ops nsp_source_perf_read = {
    .name = "perf-read",
    .open = perf_read_open,
    .thread_begin = perf_thread_begin,
    .read = nsp_perf_read,
};
