/* SPDX-License-Identifier: MIT */
/* A process in a session: ring kind, counters, calibration, sites -> state read by every probe. */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <nsprobe/file.h>

#include "announce.h"
#include "calibrate/calibrate_setup.h"
#include "counters/counters.h"
#include "counters/source.h"
#include "environment.h"
#include "error.h"
#include "own_threads.h"
#include "recorder/pid_namespace.h"
#include "sites/sites.h"
#include "thin/thinner.h"
#include "writer/arch.h"
#include "writer/clock_pair.h"
#include "writer/counted_block.h"
#include "writer/emit.h"
#include "writer/thread.h"

#define SAME_OFFSET(field, offset)                                                 \
    _Static_assert(__builtin_offsetof(struct nsp_detail_state, field) == (offset), \
                   "assembly offset")
SAME_OFFSET(mode, NSP_DETAIL_STATE_MODE);
SAME_OFFSET(ordered, NSP_DETAIL_STATE_ORDERED);
SAME_OFFSET(stride_bytes, NSP_DETAIL_STATE_STRIDE);
SAME_OFFSET(rings, NSP_DETAIL_STATE_RINGS);
SAME_OFFSET(rseq_offset, NSP_DETAIL_STATE_RSEQ);
SAME_OFFSET(cpus, NSP_DETAIL_STATE_CPUS);
SAME_OFFSET(counters, NSP_DETAIL_STATE_COUNTERS);
SAME_OFFSET(general, NSP_DETAIL_STATE_GENERAL);
SAME_OFFSET(counted, NSP_DETAIL_STATE_COUNTED);
SAME_OFFSET(counted_sequence, NSP_DETAIL_STATE_SEQUENCE);
SAME_OFFSET(counted_rseq_offset, NSP_DETAIL_STATE_COUNTED_RSEQ);
SAME_OFFSET(thread_offset, NSP_DETAIL_STATE_THREAD);
SAME_OFFSET(key, NSP_DETAIL_STATE_KEY);
_Static_assert(__builtin_offsetof(struct nslice_ring_meta, head) == NSP_DETAIL_RING_HEAD,
               "assembly offset");
_Static_assert(__builtin_offsetof(struct nslice_ring_meta, limit) == NSP_DETAIL_RING_LIMIT,
               "assembly offset");
_Static_assert(__builtin_offsetof(struct nslice_ring_meta, mask) == NSP_DETAIL_RING_MASK,
               "assembly offset");
_Static_assert(NSLICE_RING_META_BYTES == NSP_DETAIL_RING_DATA, "assembly offset");

/* A probe that was preempted on its way out of line may arrive when there is no session. */
struct nsp_detail_state nsp_detail_state = {.general = nsp_detail_general,
                                            .counted = nsp_detail_general};
uint32_t nsp_session_generation;

static struct {
    const struct nsp_shm_map *map;
    struct nsp_detail_state state; /* as published while probes are on */
    char names[NSLICE_SESSION_COUNTERS_TEXT];
    int is_inherited; /* by fork(): the parent calibrated */
} process;

/* Probes write to the rings of one session: the process's own, or that of an attached recorder. */
static int in_session;

int nsp_has_rseq(void)
{
    /* glibc leaves the size 0 if it did not register rseq (GLIBC_TUNABLES, old kernel, valgrind) */
    return __rseq_size > 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0) == 0;
}

static int refuse_rseq(void)
{
    return nsp_fail(
        -ENOTSUP,
        "process %d: has no rseq, which the session's rings require: kernel before 4.18, "
        "glibc before 2.35, or disabled by GLIBC_TUNABLES (use kind=atomic)",
        (int)getpid());
}

/* The first process decides; the others must support its choice. */
static int agree_on_ring_kind(const struct nsp_shm_map *map, uint32_t *kind)
{
    const int has_rseq = nsp_has_rseq();
    uint32_t agreed = 0;

    *kind = has_rseq ? NSLICE_RING_RSEQ : NSLICE_RING_ATOMIC;
    if (!__atomic_compare_exchange_n(&map->shm->ring_kind, &agreed, *kind, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        *kind = agreed;
    if (*kind == NSLICE_RING_RSEQ && !has_rseq)
        return refuse_rseq();
    for (uint32_t cpu = 0; cpu < map->cpus; ++cpu)
        nsp_shm_ring(map, cpu)->kind = (uint16_t)*kind;
    return 0;
}

uint32_t nsp_probe_mode(uint32_t counters, uint32_t ring_kind, int ordered)
{
    if (nsp_active_source == &nsp_source_step)
        return NSP_DETAIL_MODE_STEP;
    if (nsp_active_source == &nsp_source_rdpmc && counters > 0 && ring_kind == NSLICE_RING_RSEQ)
        return NSP_DETAIL_MODE_COUNTED;
    if (counters > 0 || ring_kind != NSLICE_RING_RSEQ)
        return NSP_DETAIL_MODE_GENERAL;
    return ordered ? NSP_DETAIL_MODE_ORDERED : NSP_DETAIL_MODE_INLINE;
}

static void fill_state(const struct nsp_shm_map *map, uint32_t ring_kind, uint32_t counters)
{
    const int ordered = map->shm->clock == NSP_CLOCK_ORDERED;

    process.map = map;
    process.state = (struct nsp_detail_state){
        .mode = nsp_probe_mode(counters, ring_kind, ordered),
        .ordered = (uint32_t)ordered,
        .stride_bytes = map->stride_bytes,
        .rings = map->rings,
        .rseq_offset = __rseq_offset,
        .cpus = map->cpus,
        .counters = counters,
        .ring_kind = ring_kind,
    };
    nsp_counted_bind(&process.state);
}

/* Restartable sequences in progress start again, and see all that was stored before. */
static void abort_sequences(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0);
}

static char reported_namespace[64]; /* as nsp_pid_namespace_text() */

static char function_facts[2048];

static void announce_info(double clock_hz, struct nsp_surroundings *surroundings)
{
    static const char *const kinds[] = {"none", "rseq", "atomic", "kernel"};
    const struct nslice_session *shm = process.map->shm;
    char reason[sizeof(shm->memory_reason)], slices[sizeof(shm->slices)], around[256];
    const struct nsp_environment environment = {
        .clock_mode = process.state.ordered ? "ordered" : "fast",
        .clock_hz = clock_hz,
        .ring_kind = kinds[process.state.ring_kind & 3],
        .ring_bytes = shm->ring_bytes,
        .ring_full = shm->full == NSLICE_FULL_OVERWRITE ? "overwrite" : "discard",
        .counter_source = nsp_active_source ? nsp_active_source->name : "none",
        .counter_reason = nsp_source_reason(),
        .counter_names = nsp_active_source ? process.names : "",
        .step_every = shm->step_every,
        .slices = slices,
        .thin_permille = shm->thin_permille,
        .memory = process.map->is_module ? "nsmod" : "process",
        .memory_reason = reason,
        .pid_namespace = reported_namespace,
        .surroundings = around,
    };
    char text[4096];
    size_t bytes;

    nsp_shm_copy_words(reason, shm->memory_reason, sizeof(reason));
    nsp_shm_copy_words(slices, shm->slices, sizeof(slices));
    nsp_surroundings_text(surroundings, around, sizeof(around));
    nsp_pid_namespace_text(reported_namespace, sizeof(reported_namespace));
    bytes = nsp_environment_text(&environment, text, sizeof(text));

    nsp_announce(process.map, NSLICE_CHUNK_INFO, text, (uint32_t)bytes);
    if (*function_facts)
        nsp_announce(process.map, NSLICE_CHUNK_INFO, function_facts,
                     (uint32_t)strlen(function_facts));
}

void nsp_detail_function_facts(const char *text)
{
    snprintf(function_facts, sizeof(function_facts), "%s", text);
    if (__atomic_load_n(&nsp_detail_state.mode, __ATOMIC_ACQUIRE) != NSP_DETAIL_MODE_OFF)
        nsp_announce(process.map, NSLICE_CHUNK_INFO, text, (uint32_t)strlen(text));
}

/* Calls of functions that have no slice are known at the end. */
static void announce_skipped(void)
{
    char text[1024];
    const uint32_t bytes = nsp_detail_functions.skipped_text(text, sizeof(text));

    if (bytes > 0)
        nsp_announce(process.map, NSLICE_CHUNK_INFO, text, bytes);
}

/* As large as the session's rings, so that caches behave alike; irrelevant beyond a few MiB. */
static uint64_t calibration_ring_bytes(uint64_t session_bytes)
{
    const uint64_t least = 1 << 18, most = 4 << 20; /* a batch must fit */

    return session_bytes < least ? least : session_bytes > most ? most : session_bytes;
}

static void announce_calibration(uint32_t phase, struct nsp_clock_pair pair,
                                 struct nsp_surroundings *surroundings)
{
    static struct {
        struct nslice_file_calibration head;
        struct nslice_calibration_entry entries[NSP_CALIBRATION_MAX_ENTRIES + NSP_MAX_WAY_ENTRIES];
    } payload;
    static struct nsp_calibration measured;
    static struct nsp_way_entries ways;
    struct nsp_calibration_setup setup = {.state = process.state,
                                          .ring_kind = process.state.ring_kind,
                                          .ways = &ways,
                                          .ring_bytes =
                                              calibration_ring_bytes(process.map->shm->ring_bytes)};

    measured.count = ways.count = 0;
    if (!process.map->shm->no_calibration && nsp_calibrate_with(&setup, &measured, surroundings))
        measured.count = ways.count = 0;
    payload.head = (struct nslice_file_calibration){
        .phase = phase,
        .entries = measured.count + ways.count,
        .ticks = pair.ticks,
        .mono_ns = pair.mono_ns,
        .clock_step_ticks = measured.count ? measured.clock_step_ticks : nsp_clock_step_ticks(),
        .clock_read_ticks = measured.clock_read_ticks,
        .pid = (uint32_t)getpid(),
    };
    memcpy(payload.entries, measured.entries, measured.count * sizeof(measured.entries[0]));
    memcpy(payload.entries + measured.count, ways.entries, ways.count * sizeof(ways.entries[0]));
    nsp_announce(
        process.map, NSLICE_CHUNK_CALIBRATION, &payload,
        (uint32_t)(sizeof(payload.head) + payload.head.entries * sizeof(measured.entries[0])));
}

/* Calibrates, and estimates the clock's rate from the time this took, or from a short wait. */
static void announce_start(void)
{
    const struct timespec wait = {0, 5000000};
    const struct nsp_clock_pair begin = nsp_clock_pair();
    struct nsp_surroundings surroundings = {.cpus = 0};
    struct nsp_clock_pair end;

    announce_calibration(NSLICE_CALIBRATION_START, begin, &surroundings);
    if (nsp_monotonic_raw_ns() - begin.mono_ns < (uint64_t)wait.tv_nsec)
        nanosleep(&wait, NULL);
    end = nsp_clock_pair();
    announce_info((double)(end.ticks - begin.ticks) * 1e9 / (double)(end.mono_ns - begin.mono_ns),
                  &surroundings);
}

/*
 * Probes read their site's mode first, so the sites are switched on last.  A thread
 * preempted inside a probe of an older session may resume here: it must not combine
 * one session's rings with the other's stride.  With 0 CPUs it takes the cold path,
 * which writes to CPU 0's ring or to none; without a key, no thread's copy is valid.
 */
static void publish_state(void)
{
    struct nsp_detail_state *state = &nsp_detail_state;

    __atomic_store_n(&state->cpus, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&state->key, 0, __ATOMIC_SEQ_CST);
    abort_sequences();
    state->ordered = process.state.ordered;
    state->rseq_offset = process.state.rseq_offset;
    state->counters = process.state.counters;
    state->ring_kind = process.state.ring_kind;
    __atomic_store_n(&state->stride_bytes, process.state.stride_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&state->rings, process.state.rings, __ATOMIC_RELAXED);
    __atomic_store_n(&state->counted, process.state.counted, __ATOMIC_RELAXED);
    __atomic_store_n(&state->counted_sequence, process.state.counted_sequence, __ATOMIC_RELAXED);
    state->counted_rseq_offset = process.state.counted_rseq_offset;
    state->thread_offset = process.state.thread_offset;
    abort_sequences();
    __atomic_store_n(&state->cpus, process.state.cpus, __ATOMIC_RELEASE);
    __atomic_store_n(&state->key, process.state.key, __ATOMIC_RELEASE);
    __atomic_store_n(&state->mode, process.state.mode, __ATOMIC_RELEASE);
    nsp_sites_switch(process.state.mode);
}

static void turn_off(void)
{
    __atomic_store_n(&nsp_detail_state.mode, NSP_DETAIL_MODE_OFF, __ATOMIC_SEQ_CST);
    nsp_sites_switch(NSP_DETAIL_MODE_OFF);
}

int nsp_process_claim(void)
{
    return !__atomic_exchange_n(&in_session, 1, __ATOMIC_ACQ_REL);
}

void nsp_process_disclaim(void)
{
    __atomic_store_n(&in_session, 0, __ATOMIC_RELEASE);
}

/* Stepping ends with the slice, and so never if its STOP is off. */
static int check_thin(uint32_t thin_permille)
{
    if (thin_permille && nsp_active_source == &nsp_source_step)
        return nsp_fail(-ENOTSUP, "thin cannot be combined with source=step: a slice whose STOP is "
                                  "off would never end");
    return 0;
}

int nsp_process_check(const struct nsp_session_config *config)
{
    char names[NSLICE_SESSION_COUNTERS_TEXT];
    uint32_t counters;
    int err;

    if (!nsp_process_claim())
        return 0; /* the session's counters must not be disturbed */
    err = nsp_source_choose(config->counters, config->source, &counters, names, sizeof(names));
    if (!err)
        err = check_thin(config->thin_permille);
    if (nsp_active_source)
        nsp_source_release();
    if (!err && config->ring_kind == NSLICE_RING_RSEQ && !nsp_has_rseq())
        err = refuse_rseq();
    nsp_process_disclaim();
    return err;
}

static int begin(const struct nsp_shm_map *map)
{
    uint32_t ring_kind, counters;
    int err = nsp_sites_check();

    if (!err)
        err = nsp_source_choose(map->shm->counters, (enum nsp_counter_source)map->shm->source,
                                &counters, process.names, sizeof(process.names));
    if (!err)
        err = check_thin(map->shm->thin_permille);
    if (!err) /* last, since it binds later processes */
        err = agree_on_ring_kind(map, &ring_kind);
    if (err)
        return err;
    process.is_inherited = 0;
    __atomic_fetch_add(&nsp_session_generation, 1, __ATOMIC_SEQ_CST);
    nsp_step_every = map->shm->step_every ? map->shm->step_every : 1;
    fill_state(map, ring_kind, counters);
    nsp_shm_populate(map);
    announce_start();
    nsp_sites_publish(map);
    __atomic_fetch_add(&map->shm->joined, 1, __ATOMIC_RELEASE); /* publishes all of the above */
    publish_state();
    nsp_thinner_start(map);
    return 0;
}

int nsp_process_begin(const struct nsp_shm_map *map)
{
    int err;

    if (!nsp_process_claim())
        return nsp_fail(-EBUSY, "process %d is already in another session", (int)getpid());
    err = begin(map);
    if (err)
        nsp_process_disclaim();
    return err;
}

void nsp_process_stop(int close_rings)
{
    nsp_thinner_stop();
    turn_off();
    for (uint32_t cpu = 0; close_rings && cpu < process.map->cpus; ++cpu)
        nsp_ring_refuse(nsp_shm_ring(process.map, cpu));
    abort_sequences(); /* on other CPUs: they find the ring closed */
}

void nsp_process_end(void)
{
    struct nsp_surroundings surroundings; /* those of the start are in the INFO */

    if (!process.is_inherited)
        announce_calibration(NSLICE_CALIBRATION_END, nsp_clock_pair(), &surroundings);
    if (&nsp_detail_functions)
        announce_skipped();
    nsp_sites_withdraw();
    nsp_source_release();
    nsp_process_disclaim();
}

int nsp_process_select(const char *rules)
{
    char text[NSLICE_SESSION_SLICES_TEXT + 64];
    int length;
    const int err = nsp_sites_select(rules);

    if (err)
        return err;
    length = snprintf(text, sizeof(text), "session.slices=%s\n", rules);
    nsp_announce(process.map, NSLICE_CHUNK_INFO, text, (uint32_t)length);
    return 0;
}

/* The parent may have created a pid namespace for children (unshare()) without announcing it. */
static void announce_namespace(void)
{
    char text[sizeof(reported_namespace)];
    const size_t bytes = nsp_pid_namespace_text(text, sizeof(text));

    if (bytes == 0 || strcmp(text, reported_namespace) == 0)
        return;
    strcpy(reported_namespace, text);
    nsp_announce(process.map, NSLICE_CHUNK_INFO, text, (uint32_t)bytes);
}

void nsp_process_after_fork(int keep)
{
    nsp_detail_thread_id = 0;
    nsp_perf_after_fork();
    nsp_papi_after_fork();
    process.is_inherited = 1;
    nsp_counted_forget();
    /* A handler's probe may read what is before: it must find pages there. */
    memset((char *)&nsp_thread + offsetof(struct nsp_thread, counter), 0,
           sizeof(nsp_thread) - offsetof(struct nsp_thread, counter));
    __atomic_fetch_add(&nsp_session_generation, 1, __ATOMIC_SEQ_CST);
    nsp_thinner_after_fork();
    nsp_own_threads_after_fork();
    if (keep) {
        nsp_sites_switch(process.state.mode);
        announce_namespace();
        return;
    }
    turn_off();
    nsp_process_disclaim();
}
