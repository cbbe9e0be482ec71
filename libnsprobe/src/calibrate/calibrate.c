/* SPDX-License-Identifier: MIT */
/* Calibration: probes on scratch rings -> inner and outer cost per kind, for clock and counters. */
#define _GNU_SOURCE
#include <nsprobe/calibrate.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <nsprobe/sample.h>

#include "calibrate_counters.h"
#include "calibrate_run.h"
#include "calibrate_setup.h"
#include "calibrate_time.h"
#include "counters/counters.h"
#include "session/error.h"
#include "writer/arch.h"
#include "writer/clock_pair.h"
#include "writer/counted_block.h"
#include "writer/thread.h"

#define DEFAULT_BATCHES 400
/* Time limit at a session start: probes that make system calls get fewer batches. */
#define SESSION_NS 40000000u

static void measure_clock(struct nsp_calibration_run *run)
{
    double *const values = run->sorted; /* unused until there are entries */
    struct nsp_estimate read;
    const int ordered = (int)nsp_detail_calibration_state.ordered;

    for (uint32_t i = 0; i < run->batches; ++i) {
        uint64_t ticks[3];

        ticks[0] = nsp_clock_read(1);
        for (int n = 0; n < NSP_ROUNDS; ++n)
            nsp_clock_read(ordered);
        ticks[1] = nsp_clock_read(1);
        for (int n = 0; n < 2 * NSP_ROUNDS; ++n)
            nsp_clock_read(ordered);
        ticks[2] = nsp_clock_read(1);
        values[i] = ((double)(ticks[2] - ticks[1]) - (double)(ticks[1] - ticks[0])) / NSP_ROUNDS;
    }
    read = nsp_trimmed_mean(values, run->batches);
    run->out->clock_read_ticks = read.mean;
    run->out->clock_read_ci95 = read.ci95;
    run->out->clock_step_ticks = nsp_clock_step_ticks();
}

static int bind_to(uint32_t cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof(one), &one);
}

/* Up to eight of the thread's CPUs. */
static void choose_cpus(struct nsp_calibration_run *run, const cpu_set_t *allowed)
{
    for (uint32_t cpu = 0;
         cpu < run->scratch.shm->cpus && cpu < CPU_SETSIZE && run->cpus < NSP_CALIBRATION_MAX_CPUS;
         ++cpu) {
        if (!CPU_ISSET(cpu, allowed) || bind_to(cpu))
            continue;
        run->cpu[run->cpus].cpu = cpu;
        run->cpu[run->cpus++].ring = nsp_batch_ring(&run->scratch, cpu);
    }
}

/* The time limit of all turns together at a session start. */
static uint64_t turns_limit_ns(void)
{
    return SESSION_NS / (1 + nsp_detail_calibration_state.counters);
}

/*
 * A CPU's turn, once more if much of it was taken away and the other turns, if they take as
 * long as those so far, leave time for it.
 */
static void measure_turn(struct nsp_calibration_run *run, uint32_t turn, uint32_t at,
                         uint64_t begin_ns)
{
    const uint32_t done = turn * run->cpus + at + 1, all = NSP_TURNS * run->cpus;
    struct nsp_cpu_run *const cpu = &run->cpu[at];
    int was_taken_away, has_time;

    do {
        const struct nsp_turn part = nsp_turn_begin();
        uint64_t now_ns;

        nsp_time_turn(run, cpu, turn);
        was_taken_away = nsp_turn_was_taken_away(run->surroundings, &part);
        nsp_surroundings_look(run->surroundings, at);
        now_ns = nsp_monotonic_raw_ns();
        has_time = run->has_limit && !cpu->is_out &&
                   (now_ns - begin_ns) * all / done + now_ns - part.begin_ns < turns_limit_ns();
        run->surroundings->repeated += was_taken_away && has_time;
    } while (was_taken_away && has_time);
}

/*
 * Each turn covers all CPUs, so that each CPU is observed over the whole duration of the
 * calibration.
 */
static void measure_time(struct nsp_calibration_run *run)
{
    const int is_stepping = nsp_detail_calibration_state.mode == NSP_DETAIL_MODE_STEP;
    const uint64_t begin_ns = nsp_monotonic_raw_ns();

    /* Time is measured with stepping off: the time of a stepped slice is meaningless. */
    nsp_step_keep_skip = 1;
    nsp_thread.step_skip = is_stepping;
    for (uint32_t turn = 0; turn < NSP_TURNS; ++turn)
        for (uint32_t i = 0; i < run->cpus; ++i) {
            run->cpu[i].is_out |= bind_to(run->cpu[i].cpu) != 0;
            if (!run->cpu[i].is_out)
                measure_turn(run, turn, i, begin_ns);
        }
    nsp_thread.step_skip = 0;
    nsp_step_keep_skip = 0;
}

static void measure_counters(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu)
{
    if (nsp_detail_calibration_state.mode == NSP_DETAIL_MODE_STEP && cpu != &run->cpu[0] &&
        !run->cpu[0].is_out) {
        nsp_copy_counter_entries(run, run->cpu[0].cpu, cpu->cpu);
        return;
    }
    nsp_step_keep_skip = 1;
    if (!bind_to(cpu->cpu))
        nsp_calibrate_counters(run, cpu);
    nsp_step_keep_skip = 0;
}

/* One entry's share of the time limit at a session start. */
static uint64_t entry_share_ns(const struct nsp_calibration_run *run)
{
    return turns_limit_ns() / (run->cpus * (uint64_t)run->kinds);
}

static void measure_all(struct nsp_calibration_run *run)
{
    cpu_set_t before;

    if (sched_getaffinity(0, sizeof(before), &before))
        CPU_ZERO(&before);
    choose_cpus(run, &before);
    if (run->cpus == 0)
        return;
    if (run->has_limit)
        run->entry_ns = entry_share_ns(run);
    bind_to(run->cpu[0].cpu);
    measure_clock(run);
    measure_time(run);
    for (uint32_t i = 0; i < run->cpus; ++i) {
        if (run->cpu[i].is_out)
            continue;
        nsp_time_entries(run, &run->cpu[i]);
        measure_counters(run, &run->cpu[i]);
    }
    sched_setaffinity(0, sizeof(before), &before);
}

int nsp_calibrate_with(const struct nsp_calibration_setup *setup, struct nsp_calibration *out,
                       struct nsp_surroundings *surroundings)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    const struct nsp_session_config scratch = {.struct_size = sizeof(scratch),
                                               .ring_bytes = setup->ring_bytes,
                                               .ring_kind = setup->ring_kind,
                                               .memory = NSP_MEMORY_PROCESS};
    const struct nsp_thread thread_before = nsp_thread;
    struct nsp_calibration_run *run;
    int err;

    memset(out, 0, sizeof(*out));
    nsp_surroundings_begin(surroundings);
    if (pthread_mutex_trylock(&one_at_a_time))
        return nsp_fail(-EBUSY, "another thread is calibrating");
    run = calloc(1, sizeof(*run));
    err = run ? nsp_shm_create(&scratch, &run->scratch)
              : nsp_fail(-ENOMEM, "out of memory for calibration");
    if (!err) {
        run->out = out;
        run->surroundings = surroundings;
        run->has_halves = setup->halves != 0;
        run->ways = &nsp_detail_functions ? setup->ways : NULL;
        for (int kind = 0; kind < NSP_ALL_KINDS; kind = nsp_next_kind(run, kind))
            ++run->kinds;
        run->has_limit = setup->batches == 0;
        run->batches = setup->batches == 0                ? DEFAULT_BATCHES
                       : setup->batches < NSP_MAX_BATCHES ? setup->batches
                                                          : NSP_MAX_BATCHES;
        nsp_shm_populate(&run->scratch);
        nsp_detail_calibration_state = setup->state;
        nsp_detail_calibration_state.rings = run->scratch.rings;
        nsp_detail_calibration_state.stride_bytes = run->scratch.stride_bytes;
        nsp_detail_calibration_state.cpus = run->scratch.shm->cpus;
        nsp_counted_bind(&nsp_detail_calibration_state);
        nsp_loops_switch(setup->state.mode);
        measure_all(run);
        nsp_loops_switch(NSP_DETAIL_MODE_OFF);
        nsp_detail_calibration_state.mode = NSP_DETAIL_MODE_OFF;
        nsp_shm_close(&run->scratch);
    }
    nsp_thread.step_skip = thread_before.step_skip;
    nsp_thread.step_depth = thread_before.step_depth;
    memcpy(nsp_thread.step_names, thread_before.step_names, sizeof(nsp_thread.step_names));
    nsp_thread.units_seen = thread_before.units_seen;
    free(run);
    pthread_mutex_unlock(&one_at_a_time);
    return err;
}
