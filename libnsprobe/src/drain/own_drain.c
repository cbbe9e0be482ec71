/* SPDX-License-Identifier: MIT */
/* Drain of this process's session: its thread, and requests of other threads. */
#define _GNU_SOURCE
#include "own_drain.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drain.h"
#include "session/error.h"
#include "session/own_threads.h"

#define POLL_NS 500000
#define WATCH_SECONDS 1 /* writing 2^32 words takes at least ten seconds */

static pthread_mutex_t drain_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t drain_wake = PTHREAD_COND_INITIALIZER;
static struct nsp_drain drain;
static pthread_t drain_thread;
static int drain_stop;

/* A flight recorder is drained only on request, but its positions must be tracked. */
static void *watch(void)
{
    struct timespec until;

    pthread_mutex_lock(&drain_lock);
    while (!__atomic_load_n(&drain_stop, __ATOMIC_ACQUIRE)) {
        nsp_drain_watch(&drain);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += WATCH_SECONDS;
        pthread_cond_timedwait(&drain_wake, &drain_lock, &until);
    }
    pthread_mutex_unlock(&drain_lock);
    return NULL;
}

static void *run_drain(void *unused)
{
    const struct timespec pause = {0, POLL_NS};

    (void)unused;
    if (drain.map->shm->full == NSLICE_FULL_OVERWRITE)
        return watch();
    while (!__atomic_load_n(&drain_stop, __ATOMIC_ACQUIRE)) {
        uint64_t taken;

        pthread_mutex_lock(&drain_lock);
        taken = nsp_drain_pass(&drain);
        pthread_mutex_unlock(&drain_lock);
        if (taken < drain.map->ring_bytes / 8)
            nanosleep(&pause, NULL);
    }
    return NULL;
}

static int start_drain_thread(void)
{
    int err;

    __atomic_store_n(&drain_stop, 0, __ATOMIC_RELEASE);
    err = nsp_own_thread_start(&drain_thread, "nsp-drain", run_drain, NULL);
    return err ? nsp_fail(-err, "cannot start the drain thread: %s", strerror(err)) : 0;
}

void nsp_own_drain_stop(void)
{
    pthread_mutex_lock(&drain_lock);
    __atomic_store_n(&drain_stop, 1, __ATOMIC_RELEASE);
    pthread_cond_signal(&drain_wake);
    pthread_mutex_unlock(&drain_lock);
    pthread_join(drain_thread, NULL);
}

int nsp_own_drain_open(const struct nsp_shm_map *map, const char *path, int given)
{
    return nsp_drain_open(&drain, map, path, given);
}

int nsp_own_drain_start(void)
{
    /*
     * Not in the thread, so that a process that ends before the thread has run leaves a trace that
     * can be corrected.
     */
    const int err = nsp_drain_head(&drain);

    return err ? err : start_drain_thread();
}

int nsp_own_drain_snapshot(void)
{
    const struct timespec pause = {0, POLL_NS};
    int err;

    pthread_mutex_lock(&drain_lock);
    for (nsp_drain_pass(&drain); drain.is_waiting; nsp_drain_pass(&drain))
        nanosleep(&pause, NULL);
    err = -drain.file.error;
    pthread_mutex_unlock(&drain_lock);
    return err;
}

int nsp_own_drain_finish(struct nsp_session_counts *counts)
{
    return nsp_drain_finish(&drain, NSLICE_END_CLOSED, counts);
}

void nsp_own_drain_abandon(void)
{
    nsp_drain_abandon(&drain);
}

void nsp_own_drain_after_fork(int has_file)
{
    if (has_file)
        nsp_file_leave(&drain.file);
    pthread_mutex_init(&drain_lock, NULL);
    pthread_cond_init(&drain_wake, NULL);
}
