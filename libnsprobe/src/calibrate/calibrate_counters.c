/* SPDX-License-Identifier: MIT */
/* Cost of probes in counters: batches of probes -> entries of fields 1 and up. */
#include "calibrate_counters.h"

#include "counters/counters.h"
#include "work.h"
#include "writer/clock_pair.h"
#include "writer/thread.h"

#define STEP_ROUNDS NSP_LOOP_UNROLLED /* a stepped round takes a millisecond and is exact */

/* Counters are read by START and STOP only. */
static const enum nsp_loop loop_counted[NSP_MACRO_KINDS] = {
    NSP_LOOP_PAIR,         NSP_LOOP_MARK_IN_PAIR, NSP_LOOP_INIT_IN_PAIR,
    NSP_LOOP_EXIT_IN_PAIR, NSP_LOOP_START,        NSP_LOOP_STOP};

static int is_stepping(void)
{
    return nsp_detail_calibration_state.mode == NSP_DETAIL_MODE_STEP;
}

static int has_time_for(const struct nsp_calibration_run *run, uint32_t batch, uint64_t begin_ns)
{
    return batch < NSP_LEAST_BATCHES || !run->entry_ns ||
           nsp_monotonic_raw_ns() - begin_ns < run->entry_ns;
}

/*
 * Stepping lasts from START to STOP; with open outer slices, it also covers the code between pairs,
 * or STOPs.
 */
static void run_counted(struct nsp_cpu_run *cpu, enum nsp_loop loop, uint32_t rounds)
{
    nsp_thread.step_depth = is_stepping() ? 1 + rounds : 0;
    nsp_step_calibrating = is_stepping();
    nsp_batch_run(&cpu->ring, loop, rounds);
    nsp_thread.step_depth = 0;
    nsp_step_calibrating = 0; /* the next trap clears the flag */
}

/* What a call of a bare function counts: the distance of pairs grows by it. */
static double bare_call(struct nsp_cpu_run *cpu, unsigned way, uint32_t field, uint32_t rounds)
{
    uint32_t distances;
    double without;

    run_counted(cpu, nsp_way_loop(way, NSP_WAY_PAIR), rounds);
    without = nsp_batch_distance(&cpu->ring, NSLICE_KIND_START, field, &distances);
    run_counted(cpu, nsp_way_loop(way, NSP_WAY_PAIR_BARE), rounds);
    return nsp_batch_distance(&cpu->ring, NSLICE_KIND_START, field, &distances) - without;
}

/* As measure(): an empty function, and what it adds to the surrounding slice beside its call. */
static uint32_t measure_way(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu, unsigned way,
                            uint32_t field, struct nsp_batch_values *values)
{
    const uint64_t begin_ns = nsp_monotonic_raw_ns();
    const uint32_t batches = is_stepping() ? 1 : run->batches,
                   rounds = is_stepping() ? STEP_ROUNDS : NSP_ROUNDS;
    uint32_t used = 0;

    for (uint32_t i = 0; i < batches && has_time_for(run, i, begin_ns); ++i) {
        const double call = bare_call(cpu, way, field, rounds);
        uint32_t pairs, distances;
        double inside, distance;

        run_counted(cpu, nsp_way_loop(way, NSP_WAY_EMPTY), rounds);
        inside = nsp_batch_inside(&cpu->ring, field, &pairs);
        distance = nsp_batch_distance(&cpu->ring, NSLICE_KIND_START, field, &distances);
        if (!distances || !pairs)
            continue;
        values->outer[used] = distance - call;
        values->inner[used++] = inside;
    }
    return used;
}

/*
 * Measures an empty slice, the distance between two of them, or what the probe adds to the
 * surrounding slice.  Returns the batches used.
 */
static uint32_t measure(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu, int kind,
                        uint32_t field, double inner_mean, struct nsp_batch_values *values)
{
    const uint64_t begin_ns = nsp_monotonic_raw_ns();
    const uint32_t batches = is_stepping() ? 1 : run->batches;
    const int is_apart = kind == 0 || nsp_is_half(kind); /* measured between two such records */
    uint32_t used = 0;

    for (uint32_t i = 0; i < batches && has_time_for(run, i, begin_ns); ++i) {
        uint32_t pairs, distances;
        double inside, distance;

        run_counted(cpu, loop_counted[kind], is_stepping() ? STEP_ROUNDS : NSP_ROUNDS);
        inside = nsp_batch_inside(&cpu->ring, field, &pairs);
        distance = nsp_batch_distance(&cpu->ring, nsp_record_kinds[is_apart ? kind : 0], field,
                                      &distances);
        if (!distances || (!pairs && !nsp_is_half(kind)))
            continue;
        values->outer[used] = is_apart ? distance : inside - inner_mean;
        values->inner[used++] = kind == 0 ? inside : 0;
    }
    return used;
}

void nsp_calibrate_counters(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu)
{
    for (uint32_t field = 1; field <= nsp_detail_calibration_state.counters; ++field) {
        double inner_of_pair = 0;

        for (int kind = 0; kind < NSP_ALL_KINDS; kind = nsp_next_kind(run, kind)) {
            struct nsp_batch_values *const values = &cpu->after_work[kind]; /* no longer used */
            const uint32_t used =
                nsp_is_way(kind)
                    ? measure_way(run, cpu, (unsigned)(kind - NSP_MACRO_KINDS), field, values)
                    : measure(run, cpu, kind, field, inner_of_pair, values);
            const struct nslice_calibration_entry *entry =
                used ? nsp_add_entry(run, cpu, kind, 0, field, values, used) : NULL;

            if (entry && kind == 0)
                inner_of_pair = entry->inner;
        }
    }
}
