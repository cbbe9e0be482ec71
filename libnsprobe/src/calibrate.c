/* SPDX-License-Identifier: MIT */
/* Calibration: batches of probes on scratch rings -> inner and outer cost of each kind, for the clock and each counter. */
#define _GNU_SOURCE
#include <nsprobe/calibrate.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <nsprobe/sample.h>

#include "arch.h"
#include "calibrate_loops.h"
#include "calibrate_setup.h"
#include "counters.h"
#include "error.h"
#include "ring_read.h"
#include "shm.h"
#include "thread.h"

/*
 * n; the other half of a batch has 2n.  Long batches on a busy core each hold some
 * disturbance that the trim of the slices leaves out, and the constants come out
 * too large; short ones, too small.  64 was chosen between 16, 32 and 256 by
 * tests/bench/time_bench on one busy Zen 3 host: it is fitted, not derived.
 */
#define ROUNDS 64
#define DEFAULT_BATCHES 100
#define MAX_BATCHES 1000
#define TURNS 5 /* the kinds take turns: what a probe costs wanders with the core's neighbours, over tens of milliseconds */
#define STEP_ROUNDS NSP_LOOP_UNROLLED /* a stepped round costs a millisecond and is exact */

struct run {
    struct nsp_shm_map scratch;
    uint32_t batches;
    uint32_t cpu;
    uint64_t begin; /* position of the last batch in the CPU's ring */
    double values[NSP_CALIBRATION_KINDS][MAX_BATCHES];
    double more_values[NSP_CALIBRATION_KINDS][MAX_BATCHES];
};

static const enum nsp_loop loop_alone[NSP_CALIBRATION_KINDS] = {NSP_LOOP_PAIR, NSP_LOOP_MARK, NSP_LOOP_INIT,
                                                                NSP_LOOP_EXIT};
static const enum nsp_loop loop_after_work[NSP_CALIBRATION_KINDS] = {NSP_LOOP_WORK_PAIR, NSP_LOOP_WORK_MARK,
                                                                     NSP_LOOP_WORK_INIT, NSP_LOOP_WORK_EXIT};
static const enum nsp_loop loop_in_pair[NSP_CALIBRATION_KINDS] = {NSP_LOOP_PAIR, NSP_LOOP_MARK_IN_PAIR,
                                                                  NSP_LOOP_INIT_IN_PAIR, NSP_LOOP_EXIT_IN_PAIR};
static const uint8_t kinds[NSP_CALIBRATION_KINDS] = {NSLICE_KIND_START, NSLICE_KIND_MARK, NSLICE_KIND_INIT,
                                                     NSLICE_KIND_EXIT};

/*
 * Makes room for a batch behind the one before.  The ring is as large as a
 * session's and is gone round like one: a ring that stays in the first-level
 * cache would make probes look cheaper than they are.
 */
static void advance_ring(struct run *run)
{
    struct nslice_ring_meta *ring = nsp_shm_ring(&run->scratch, run->cpu);
    const uint64_t ring_bytes = run->scratch.shm->ring_bytes;

    if (ring->kind == NSLICE_RING_ATOMIC)
        memset((void *)nsp_ring_data(ring, ring_bytes, run->begin), 0,
               NSLICE_POSITION_UNITS(ring->head - run->begin) * NSLICE_UNIT_BYTES);
    run->begin = ring->head;
    ring->tail = ring->head;
    ring->limit = (uint32_t)ring->head + ring->mask + 1;
}

struct batch_records {
    const uint64_t *at, *end;
};

static struct batch_records last_batch(const struct run *run)
{
    const struct nslice_ring_meta *ring = nsp_shm_ring(&run->scratch, run->cpu);
    const uint64_t *at = nsp_ring_data(ring, run->scratch.shm->ring_bytes, run->begin);

    return (struct batch_records){at, at + NSLICE_POSITION_UNITS(ring->head - run->begin)};
}

/* Mean STOP - START of word `field` (0: clock) over the records of the ring; 0 with *pairs == 0 when there are none. */
static double mean_inside(const struct run *run, uint32_t field, uint32_t *pairs)
{
    const struct batch_records batch = last_batch(run);
    const uint64_t *at = batch.at, *end = batch.end, *start = NULL;
    double sum = 0;

    *pairs = 0;
    while (at < end) {
        const uint32_t kind = at[1] >> 48 & 0xff, words = at[1] >> 56;
        const uint32_t word = field ? NSLICE_HEAD_UNITS + field - 1 : 0;

        if (kind == NSLICE_KIND_START)
            start = field == 0 || words >= field ? at : NULL;
        else if (kind == NSLICE_KIND_STOP && start && (field == 0 || words >= field)) {
            sum += (double)(at[word] - start[word]);
            ++*pairs;
        }
        at += NSLICE_HEAD_UNITS + words;
    }
    return *pairs ? sum / *pairs : 0;
}

/* Mean distance of a counter from one START to the next, left out where the loop's own branch lies between. */
static double mean_distance(const struct run *run, uint32_t field, uint32_t *count)
{
    const struct batch_records batch = last_batch(run);
    const uint64_t *at = batch.at, *end = batch.end, *before = NULL;
    uint32_t starts = 0;
    double sum = 0;

    *count = 0;
    while (at < end) {
        const uint32_t kind = at[1] >> 48 & 0xff, words = at[1] >> 56;

        if (kind == NSLICE_KIND_START && words >= field) {
            if (before && starts % NSP_LOOP_UNROLLED != 0) {
                sum += (double)(at[NSLICE_HEAD_UNITS + field - 1] - before[NSLICE_HEAD_UNITS + field - 1]);
                ++*count;
            }
            before = at;
            ++starts;
        }
        at += NSLICE_HEAD_UNITS + words;
    }
    return *count ? sum / *count : 0;
}

static uint64_t timed(struct run *run, enum nsp_loop loop, uint32_t rounds)
{
    advance_ring(run);
    return nsp_run_loop(loop, rounds);
}

/* Ticks of one round: the difference of batches with 2n and with n of them. */
static double round_ticks(struct run *run, enum nsp_loop loop)
{
    const uint64_t once = timed(run, loop, ROUNDS);
    const uint64_t twice = timed(run, loop, 2 * ROUNDS);

    return ((double)twice - (double)once) / ROUNDS;
}

/*
 * Mode fast: probes back to back.  What surrounds a probe may overlap it then,
 * so this is the most that it adds, and the least that an empty slice reads.
 */
static void batch_fast(struct run *run, int kind, double *outer, double *inner)
{
    uint32_t pairs;

    *outer = round_ticks(run, loop_alone[kind]);
    *inner = kind == 0 ? mean_inside(run, 0, &pairs) : 0;
}

/*
 * Mode ordered: nothing overlaps but the loads before the probe's first fence.
 * A program hides them behind the work before the probe, so calibration does, too.
 */
static void batch_ordered(struct run *run, int kind, double *outer, double *inner)
{
    const double work = round_ticks(run, NSP_LOOP_WORK);
    uint32_t pairs;

    *outer = round_ticks(run, loop_after_work[kind]) - work;
    *inner = 0;
    if (kind == 0) {
        timed(run, NSP_LOOP_WORK_IN_PAIR, 2 * ROUNDS);
        *inner = mean_inside(run, 0, &pairs) - work;
    }
}

/* NULL when there are as many as a calibration holds. */
static struct nslice_calibration_entry *next_entry(const struct run *run, struct nsp_calibration *out, int kind, uint32_t field)
{
    struct nslice_calibration_entry *entry = &out->entries[out->count];

    if (out->count == NSP_CALIBRATION_MAX_ENTRIES)
        return NULL;
    ++out->count;
    *entry = (struct nslice_calibration_entry){.cpu = run->cpu, .kind = kinds[kind], .field = (uint8_t)field};
    return entry;
}

static void batch_ticks(struct run *run, int kind, uint32_t at)
{
    double *const outer = &run->values[kind][at], *const inner = &run->more_values[kind][at];

    if (nsp_detail_calibration_state.ordered)
        batch_ordered(run, kind, outer, inner);
    else
        batch_fast(run, kind, outer, inner);
}

static void estimate(struct run *run, int kind, uint32_t samples, struct nslice_calibration_entry *entry)
{
    const struct nsp_estimate outer = nsp_trimmed_mean(run->values[kind], samples);
    const struct nsp_estimate inner = nsp_trimmed_mean(run->more_values[kind], samples);

    entry->samples = outer.samples;
    entry->trimmed = outer.trimmed;
    entry->outer = outer.mean;
    entry->outer_ci95 = outer.ci95;
    entry->inner = inner.mean;
    entry->inner_ci95 = inner.ci95;
}

static void measure_ticks(struct run *run, struct nsp_calibration *out)
{
    for (uint32_t turn = 0; turn < TURNS; ++turn)
        for (int kind = 0; kind < NSP_CALIBRATION_KINDS; ++kind) {
            const uint32_t begin = run->batches * turn / TURNS, end = run->batches * (turn + 1) / TURNS;

            if (begin < end)
                batch_ticks(run, kind, begin); /* warms caches and predictors; overwritten */
            for (uint32_t i = begin; i < end; ++i)
                batch_ticks(run, kind, i);
        }
    for (int kind = 0; kind < NSP_CALIBRATION_KINDS; ++kind) {
        struct nslice_calibration_entry *entry = next_entry(run, out, kind, 0);

        if (entry)
            estimate(run, kind, run->batches, entry);
    }
}

/* Cost in a counter: what an empty slice reads, what lies between two of them, or what the probe adds to the slice around it. */
static void measure_counter(struct run *run, int kind, uint32_t field, double inner_mean,
                            struct nslice_calibration_entry *entry)
{
    const int stepped = nsp_detail_calibration_state.mode == NSP_DETAIL_MODE_STEP;
    const uint32_t batches = stepped ? 1 : run->batches;
    uint32_t used = 0;

    for (uint32_t i = 0; i < batches; ++i) {
        uint32_t pairs, distances;
        double inside, distance;

        /* Stepping lasts from START to STOP; as if inside a slice, it also covers what lies between two pairs. */
        nsp_thread.step_depth = stepped;
        nsp_step_calibrating = stepped;
        timed(run, loop_in_pair[kind], stepped ? STEP_ROUNDS : ROUNDS);
        nsp_thread.step_depth = 0;
        nsp_step_calibrating = 0; /* the next trap takes the flag off */
        inside = mean_inside(run, field, &pairs);
        distance = mean_distance(run, field, &distances);
        if (!pairs || !distances)
            continue;
        run->values[kind][used] = kind == 0 ? distance : inside - inner_mean;
        run->more_values[kind][used++] = kind == 0 ? inside : 0;
    }
    estimate(run, kind, used, entry);
}

static void measure_cpu(struct run *run, struct nsp_calibration *out)
{
    const int stepped = nsp_detail_calibration_state.mode == NSP_DETAIL_MODE_STEP;

    /* Time is measured with stepping off: a stepped slice's time means nothing. */
    nsp_step_keep_skip = 1;
    nsp_thread.step_skip = stepped;
    measure_ticks(run, out);
    nsp_thread.step_skip = 0;
    for (uint32_t field = 1; field <= nsp_detail_calibration_state.counters; ++field) {
        double inner_of_pair = 0;

        for (int kind = 0; kind < NSP_CALIBRATION_KINDS; ++kind) {
            struct nslice_calibration_entry *entry = next_entry(run, out, kind, field);

            if (!entry)
                break;
            measure_counter(run, kind, field, inner_of_pair, entry);
            if (kind == 0)
                inner_of_pair = entry->inner;
            if (entry->samples == 0)
                --out->count;
        }
    }
    nsp_step_keep_skip = 0;
}

static void measure_clock(struct run *run, struct nsp_calibration *out)
{
    struct nsp_estimate read;
    const int ordered = (int)nsp_detail_calibration_state.ordered;

    for (uint32_t i = 0; i < run->batches; ++i) {
        uint64_t ticks[3];

        ticks[0] = nsp_clock_read(1);
        for (int n = 0; n < ROUNDS; ++n)
            nsp_clock_read(ordered);
        ticks[1] = nsp_clock_read(1);
        for (int n = 0; n < 2 * ROUNDS; ++n)
            nsp_clock_read(ordered);
        ticks[2] = nsp_clock_read(1);
        run->values[0][i] = ((double)(ticks[2] - ticks[1]) - (double)(ticks[1] - ticks[0])) / ROUNDS;
    }
    read = nsp_trimmed_mean(run->values[0], run->batches);
    out->clock_read_ticks = read.mean;
    out->clock_read_ci95 = read.ci95;
    out->clock_step_ticks = nsp_clock_step_ticks();
}

/* Visits up to eight of the thread's CPUs; the counters are the thread's own, so one CPU will do for the step source. */
static void measure_all(struct run *run, struct nsp_calibration *out)
{
    cpu_set_t before, one;
    uint32_t visited = 0;

    if (sched_getaffinity(0, sizeof(before), &before))
        CPU_ZERO(&before);
    for (uint32_t cpu = 0; cpu < run->scratch.shm->cpus && visited < NSP_CALIBRATION_MAX_CPUS; ++cpu) {
        if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &before))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof(one), &one))
            continue;
        run->cpu = cpu;
        run->begin = 0;
        if (visited++ == 0)
            measure_clock(run, out);
        measure_cpu(run, out);
    }
    sched_setaffinity(0, sizeof(before), &before);
}

int nsp_calibrate_with(const struct nsp_calibration_setup *setup, struct nsp_calibration *out)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    const struct nsp_session_config scratch = {.struct_size = sizeof(scratch),
                                               .ring_bytes = setup->ring_bytes,
                                               .ring_kind = setup->ring_kind};
    const struct nsp_thread thread_before = nsp_thread;
    struct run *run;
    int err;

    memset(out, 0, sizeof(*out));
    if (pthread_mutex_trylock(&one_at_a_time))
        return nsp_fail(-EBUSY, "another thread is calibrating");
    run = calloc(1, sizeof(*run));
    err = run ? nsp_shm_create(&scratch, &run->scratch) : nsp_fail(-ENOMEM, "out of memory for calibration");
    if (!err) {
        run->batches = setup->batches == 0 ? DEFAULT_BATCHES : setup->batches < MAX_BATCHES ? setup->batches : MAX_BATCHES;
        nsp_shm_populate(&run->scratch);
        nsp_detail_calibration_state = setup->state;
        nsp_detail_calibration_state.rings = run->scratch.rings;
        nsp_detail_calibration_state.stride_bytes = run->scratch.stride_bytes;
        nsp_detail_calibration_state.cpus = run->scratch.shm->cpus;
        measure_all(run, out);
        nsp_detail_calibration_state.mode = NSP_DETAIL_MODE_OFF;
        nsp_shm_close(&run->scratch);
    }
    nsp_thread.step_skip = thread_before.step_skip;
    nsp_thread.step_depth = thread_before.step_depth;
    nsp_thread.step_void = thread_before.step_void;
    nsp_thread.units_seen = thread_before.units_seen;
    free(run);
    pthread_mutex_unlock(&one_at_a_time);
    return err;
}
