/* SPDX-License-Identifier: MIT */
/* Random thinning: names inside slices -> epochs in which some are off, announced in batches. */
#define _GNU_SOURCE
#include "thinner.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <nsprobe/file.h>

#include "common/thin/arms.h"
#include "ring_windows.h"
#include "session/announce.h"
#include "session/error.h"
#include "session/own_threads.h"
#include "sites/sites.h"
#include "writer/arch.h"
#include "writer/clock_pair.h"

#define BATCH_BYTES 4096
#define MOST_IDS 1024              /* of one epoch */
#define MOST_BATCH_NS 100000000ull /* a program that is killed loses what is not announced */
#define MOST_ANNOUNCED_BYTES (NSLICE_SESSION_ANNOUNCE_BYTES / 4)
#define FULL_EPOCHS 32
#define FULL_SHARE 15
#define WATCHED_EPOCHS 1000
#define LEAST_WINDOW_NS 100000ull
#define WINDOW_LENGTHS 8
#define IDLE_NS 100000000ull /* in a program without slices inside others */

struct batch {
    uint64_t begin_ns;
    uint32_t bytes;
    char data[BATCH_BYTES + sizeof(struct nslice_file_epoch) + 2ul * MOST_IDS + 8];
};

struct thinner {
    const struct nsp_shm_map *map;
    struct nsp_ring_windows *windows;
    struct nsp_arms arms;
    struct batch batch;
    uint64_t begin_ns, announced_bytes, epochs;
    uint16_t ids[MOST_IDS];
};

static pthread_t thread;
static int is_running;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake;
static int must_stop;

/* Returns 1 to stop. */
static int wait_ns(uint64_t length_ns)
{
    struct timespec until;
    int is_over = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)((until.tv_nsec + length_ns) / 1000000000);
    until.tv_nsec = (long)((until.tv_nsec + length_ns) % 1000000000);
    pthread_mutex_lock(&lock);
    while (!must_stop && !is_over)
        is_over = pthread_cond_timedwait(&wake, &lock, &until) == ETIMEDOUT;
    is_over = must_stop;
    pthread_mutex_unlock(&lock);
    return is_over;
}

static void flush(struct thinner *thinner)
{
    if (thinner->batch.bytes > 0)
        nsp_announce(thinner->map, NSLICE_CHUNK_EPOCHS, thinner->batch.data, thinner->batch.bytes);
    thinner->announced_bytes += thinner->batch.bytes;
    thinner->batch.bytes = 0;
}

static void note_epoch(struct thinner *thinner, const struct nslice_file_epoch *epoch)
{
    const uint64_t now_ns = nsp_monotonic_raw_ns();
    struct batch *const batch = &thinner->batch;
    const size_t id_bytes = epoch->ids * sizeof(thinner->ids[0]), padded = (id_bytes + 7) & ~7ul;

    if (batch->bytes == 0)
        batch->begin_ns = now_ns;
    memcpy(batch->data + batch->bytes, epoch, sizeof(*epoch));
    memset(batch->data + batch->bytes + sizeof(*epoch), 0, padded);
    memcpy(batch->data + batch->bytes + sizeof(*epoch), thinner->ids, id_bytes);
    batch->bytes += (uint32_t)(sizeof(*epoch) + padded);
    if (batch->bytes >= BATCH_BYTES || now_ns - batch->begin_ns >= MOST_BATCH_NS)
        flush(thinner);
}

/*
 * Ends one set of probes and begins the next: returns when no probe of the old set is writing its
 * record, except in threads that were preempted between their look at the switch and the record.
 */
static uint32_t switch_to(struct thinner *thinner, const uint8_t off[NSP_THIN_NAMES])
{
    const size_t ids = nsp_sites_thin(off, thinner->ids, MOST_IDS);

    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0);
    return (uint32_t)ids;
}

static int has_listed(const struct thinner *thinner)
{
    return thinner->batch.bytes > 0 || thinner->announced_bytes > 0;
}

/*
 * In the first epochs everything is on, since what is off cannot be seen; later in some.  Readers
 * rely on it that nothing is off before the first epoch of the list.
 */
static int is_full(const struct thinner *thinner)
{
    return thinner->epochs < FULL_EPOCHS || thinner->epochs % FULL_SHARE == 0 ||
           !has_listed(thinner);
}

/* Whether to look for names inside others in the next epoch. */
static int is_watched(const struct thinner *thinner)
{
    return thinner->epochs < WATCHED_EPOCHS || is_full(thinner);
}

/*
 * While no name is known to lie inside another, epochs are windows of various lengths: slices may
 * be long, but the records of a window must fit into the rings.
 */
static uint64_t length_ns(struct thinner *thinner, uint64_t age_ns)
{
    if (thinner->windows->nesting.inner_count)
        return nsp_arms_length_ns(&thinner->arms, age_ns);
    return thinner->epochs < WATCHED_EPOCHS ? LEAST_WINDOW_NS << thinner->epochs % WINDOW_LENGTHS
                                            : IDLE_NS;
}

/* An epoch without length, with some of the ids: something was off around it. */
static void note_too_many(struct thinner *thinner)
{
    struct nslice_file_epoch epoch = {.pid = (uint32_t)getpid(), .ids = MOST_IDS};

    epoch.begin_ticks = epoch.end_ticks = nsp_clock_read(1);
    note_epoch(thinner, &epoch);
}

/* Returns 1 to stop. */
static int run_epoch(struct thinner *thinner)
{
    const uint64_t age_ns = nsp_monotonic_raw_ns() - thinner->begin_ns;
    struct nslice_file_epoch epoch = {.pid = (uint32_t)getpid()};
    uint8_t off[NSP_THIN_NAMES];
    const int watches = is_watched(thinner);
    const uint32_t generation = nsp_sites_generation();
    int stops;

    if (is_full(thinner))
        memset(off, 0, sizeof(off));
    else
        nsp_arms_draw(&thinner->arms, &thinner->windows->nesting, off);
    if (!is_full(thinner) && thinner->announced_bytes == 0)
        flush(thinner); /* if the program is killed, readers know that probes are switched */
    epoch.ids = switch_to(thinner, off);
    if (epoch.ids > MOST_IDS) {
        note_too_many(thinner);
        return 1;
    }
    epoch.begin_ticks = nsp_clock_read(1);
    if (watches)
        nsp_ring_windows_begin(thinner->windows, thinner->map);
    stops = wait_ns(length_ns(thinner, age_ns));
    if (watches)
        nsp_ring_windows_end(thinner->windows, thinner->map);
    epoch.end_ticks = nsp_clock_read(1);
    ++thinner->epochs;
    /* Sites that came meanwhile may be off without being listed. */
    if (thinner->windows->nesting.inner_count && generation == nsp_sites_generation())
        note_epoch(thinner, &epoch);
    return stops || thinner->announced_bytes > MOST_ANNOUNCED_BYTES;
}

/* An epoch without length: from here on everything is on. */
static void note_end(struct thinner *thinner)
{
    struct nslice_file_epoch epoch = {.pid = (uint32_t)getpid()};

    epoch.begin_ticks = epoch.end_ticks = nsp_clock_read(1);
    note_epoch(thinner, &epoch);
}

static void *run(void *given)
{
    static const uint8_t none[NSP_THIN_NAMES];
    struct thinner *thinner = given;

    thinner->begin_ns = nsp_monotonic_raw_ns();
    while (!run_epoch(thinner))
        ;
    if (switch_to(thinner, none) == 0 && has_listed(thinner))
        note_end(thinner);
    flush(thinner);
    free(thinner->windows);
    free(thinner);
    return NULL;
}

static struct thinner *new_thinner(const struct nsp_shm_map *map)
{
    struct thinner *thinner = calloc(1, sizeof(*thinner));
    uint64_t seed = 0;

    if (!thinner)
        return NULL;
    thinner->map = map;
    thinner->windows = nsp_ring_windows_new(map);
    if (!thinner->windows) {
        free(thinner);
        return NULL;
    }
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        seed = nsp_monotonic_raw_ns();
    nsp_arms_seed(&thinner->arms, seed, map->shm->thin_permille);
    return thinner;
}

static int start(const struct nsp_shm_map *map)
{
    struct thinner *thinner = new_thinner(map);
    pthread_condattr_t attributes;
    int err;

    if (!thinner)
        return ENOMEM;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&wake, &attributes);
    pthread_condattr_destroy(&attributes);
    must_stop = 0;
    err = nsp_own_thread_start(&thread, "nsp-thin", run, thinner);
    if (err) {
        free(thinner->windows);
        free(thinner);
        return err;
    }
    is_running = 1;
    return 0;
}

void nsp_thinner_start(const struct nsp_shm_map *map)
{
    int err;

    if (map->shm->thin_permille == 0)
        return;
    err = start(map);
    if (err)
        fprintf(stderr, "netslice: thin: cannot start the thread: %s (all probes stay on)\n",
                strerror(err));
}

void nsp_thinner_stop(void)
{
    if (!is_running)
        return;
    pthread_mutex_lock(&lock);
    must_stop = 1;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    is_running = 0;
}

void nsp_thinner_after_fork(void)
{
    is_running = 0;
    pthread_mutex_init(&lock, NULL);
}
