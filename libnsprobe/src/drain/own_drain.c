/* SPDX-License-Identifier: MIT */
/* Drain of this process's session: its thread, and requests of other threads. */
#define _GNU_SOURCE
#include "own_drain.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drain.h"
#include "session/error.h"
#include "session/own_threads.h"
#include "sites/sites.h"

#define POLL_NS 500000
#define KERNEL_END_POLLS 20000 /* ten seconds; then nsp_kernel_drain_end() has its own limit */
#define WATCH_SECONDS 1        /* writing 2^32 words takes at least ten seconds */

static pthread_mutex_t drain_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t drain_wake = PTHREAD_COND_INITIALIZER;
static struct nsp_drain drain;
static pthread_t drain_thread;
static int drain_stop;
static void (*release_kernel)(void *of);

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

/* Rules that have been changed since are announced, and followed from now on. */
static void follow_rules(const char *given)
{
    char rules[NSLICE_SESSION_SLICES_TEXT];
    struct nsp_kernel_drain *kernel = &drain.kernel;

    kernel->follows_control = 1;
    nsp_sites_copy_rules(rules);
    if (strcmp(rules, given) != 0 && kernel->source.select)
        kernel->select_error = kernel->source.select(kernel->source.of, rules);
}

int nsp_own_drain_add_kernel(const struct nsp_session_kernel *kernel)
{
    const struct nslice_session *shm = drain.map->shm;
    struct nsp_kernel_source source = {.fd = -1};
    const struct nsp_kernel_config config = {.source = &source};
    char rules[NSLICE_SESSION_SLICES_TEXT], words[NSP_ERROR_BYTES] = "";
    int err;

    if (shm->full == NSLICE_FULL_OVERWRITE)
        return nsp_fail(-ENOTSUP, "a flight recorder (full=overwrite) has no kernel records");
    if (drain.kernel.buffer)
        return nsp_fail(-EBUSY, "the session already has kernel records (once in a session)");
    nsp_sites_copy_rules(rules);
    err = kernel->begin(kernel->given, rules, shm->thin_permille, &source, words, sizeof(words));
    if (err)
        return nsp_fail(err, "%s", words);
    pthread_mutex_lock(&drain_lock);
    drain.kernel.take_sites = nsp_sites_take_kernel;
    err = nsp_kernel_drain_open(&drain.kernel, &config, shm->clock, shm->full);
    if (!err)
        follow_rules(rules);
    pthread_mutex_unlock(&drain_lock);
    if (err) {
        kernel->release(source.of);
        return err;
    }
    release_kernel = kernel->release;
    nsp_own_threads_adopt(1);
    return 0;
}

int nsp_own_drain_has_kernel(void)
{
    return drain.kernel.fd >= 0;
}

static int kernel_is_over(void)
{
    int is_over;

    pthread_mutex_lock(&drain_lock);
    is_over = drain.kernel.is_over;
    pthread_mutex_unlock(&drain_lock);
    return is_over;
}

/* The thread continues to drain meanwhile, so that no ring fills. */
int nsp_own_drain_end_kernel(struct nsp_session_counts *counts)
{
    const struct timespec pause = {0, POLL_NS};
    void *const of = drain.kernel.source.of;
    int err;

    if (!nsp_own_drain_has_kernel())
        return nsp_fail(-ENOENT, "the session records nothing of the kernel");
    nsp_kernel_drain_ask_to_end(&drain.kernel);
    for (int i = 0; i < KERNEL_END_POLLS && !kernel_is_over(); ++i)
        nanosleep(&pause, NULL);
    pthread_mutex_lock(&drain_lock);
    err = nsp_kernel_drain_end(&drain.kernel, &drain.file, &drain.last_kernel);
    if (counts)
        nsp_kernel_drain_counts(&drain.kernel, counts);
    nsp_kernel_drain_leave(&drain.kernel);
    pthread_mutex_unlock(&drain_lock);
    release_kernel(of);
    nsp_own_threads_adopt(-1);
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
    if (has_file) {
        nsp_file_leave(&drain.file);
        nsp_kernel_drain_leave(&drain.kernel);
    }
    pthread_mutex_init(&drain_lock, NULL);
    pthread_cond_init(&drain_wake, NULL);
}
