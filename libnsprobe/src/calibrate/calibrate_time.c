/* SPDX-License-Identifier: MIT */
/* Cost of probes in ticks: batches of n and 2n rounds, in turns -> entries of field 0. */
#include "calibrate_time.h"

#include "work.h"
#include "writer/clock_pair.h"

#define LONG_ROUNDS NSP_LOOP_UNROLLED
#define LEAST_WITH_WARM_UP (4 * NSP_TURNS) /* batches; fewer are each too long for warm-up */

static const enum nsp_loop loop_alone[NSP_MACRO_KINDS] = {
    NSP_LOOP_PAIR, NSP_LOOP_MARK, NSP_LOOP_INIT, NSP_LOOP_EXIT, NSP_LOOP_START, NSP_LOOP_STOP};
static const enum nsp_loop loop_after_work[NSP_MACRO_KINDS] = {
    NSP_LOOP_WORK_PAIR, NSP_LOOP_WORK_MARK,  NSP_LOOP_WORK_INIT,
    NSP_LOOP_WORK_EXIT, NSP_LOOP_WORK_START, NSP_LOOP_WORK_STOP};

/* Ticks of one round: the difference between batches with 2n and n rounds. */
static double ticks_of_rounds(struct nsp_cpu_run *cpu, enum nsp_loop loop, uint32_t rounds)
{
    const uint64_t once = nsp_batch_run(&cpu->ring, loop, rounds);
    const uint64_t twice = nsp_batch_run(&cpu->ring, loop, 2 * rounds);

    return ((double)twice - (double)once) / rounds;
}

static double round_ticks(struct nsp_cpu_run *cpu, enum nsp_loop loop)
{
    return ticks_of_rounds(cpu, loop, NSP_ROUNDS);
}

/*
 * Probes between chains of dependent work, as in a program, which hide what can be executed in
 * parallel.  A pair has work before it and inside: what a read waits for, or overtakes, depends on
 * what precedes it, so START and STOP must both follow work.
 */
static void batch_after_work(struct nsp_cpu_run *cpu, int kind, uint32_t at)
{
    struct nsp_batch_values *const values = &cpu->after_work[kind];
    const double work = round_ticks(cpu, NSP_LOOP_WORK);
    uint32_t pairs;

    values->outer[at] = round_ticks(cpu, loop_after_work[kind]) - work;
    values->inner[at] = 0;
    if (kind == 0) {
        values->outer[at] -= work; /* inside the pair */
        values->inner[at] = nsp_batch_inside(&cpu->ring, 0, &pairs) - work;
        cpu->is_out |= pairs == 0; /* the thread was moved off a CPU that went offline */
    }
}

/* Probes without work that hides them: their maximum cost. */
static void batch_alone(struct nsp_cpu_run *cpu, int kind, uint32_t at)
{
    struct nsp_batch_values *const values = &cpu->alone[kind];
    uint32_t pairs;

    values->outer[at] = round_ticks(cpu, loop_alone[kind]);
    values->inner[at] = 0;
    if (kind == 0) {
        values->inner[at] = nsp_batch_inside(&cpu->ring, 0, &pairs);
        cpu->is_out |= pairs == 0;
    }
}

/*
 * A pair whose STOP overtakes as much work as the processor allows while its START overtakes none.
 * The first run of either loop fetches its code.
 */
static void batch_overtaking(struct nsp_cpu_run *cpu, uint32_t at)
{
    struct nsp_batch_values *const values = &cpu->overtaking;
    double work;
    uint32_t pairs;

    nsp_batch_run(&cpu->ring, NSP_LOOP_LONG_WORK, LONG_ROUNDS);
    work = ticks_of_rounds(cpu, NSP_LOOP_LONG_WORK, LONG_ROUNDS);
    nsp_batch_run(&cpu->ring, NSP_LOOP_LONG_PAIR, LONG_ROUNDS);
    values->outer[at] = ticks_of_rounds(cpu, NSP_LOOP_LONG_PAIR, LONG_ROUNDS) - work;
    values->inner[at] = nsp_batch_inside(&cpu->ring, 0, &pairs) - work;
    cpu->is_out |= pairs == 0;
}

/*
 * Calls of a function with sleds or an entry, compared with calls of the same function without
 * them. The function's own part of the work is what its slice should read.
 */
static void batch_way(struct nsp_cpu_run *cpu, int kind, uint32_t at)
{
    const unsigned way = (unsigned)(kind - NSP_MACRO_KINDS);
    struct nsp_batch_values *values = &cpu->after_work[kind];
    const double work = round_ticks(cpu, NSP_LOOP_WORK);
    uint32_t pairs;

    values->outer[at] = -round_ticks(cpu, nsp_way_loop(way, NSP_WAY_WORK_BARE));
    values->outer[at] += round_ticks(cpu, nsp_way_loop(way, NSP_WAY_WORK));
    values->inner[at] = nsp_batch_inside(&cpu->ring, 0, &pairs) - work;
    cpu->is_out |= pairs == 0;
    values = &cpu->alone[kind];
    values->outer[at] = -round_ticks(cpu, nsp_way_loop(way, NSP_WAY_EMPTY_BARE));
    values->outer[at] += round_ticks(cpu, nsp_way_loop(way, NSP_WAY_EMPTY));
    values->inner[at] = nsp_batch_inside(&cpu->ring, 0, &pairs);
    cpu->is_out |= pairs == 0;
}

static void batch(struct nsp_cpu_run *cpu, int kind, uint32_t at)
{
    if (nsp_is_way(kind)) {
        batch_way(cpu, kind, at);
        return;
    }
    batch_after_work(cpu, kind, at);
    batch_alone(cpu, kind, at);
    if (kind == 0)
        batch_overtaking(cpu, at);
}

/* Number of batches per kind within the time limit, from the duration of one batch of each. */
static uint32_t affordable_batches(const struct nsp_calibration_run *run, struct nsp_cpu_run *cpu)
{
    const uint64_t begin_ns = nsp_monotonic_raw_ns();
    uint64_t affordable;

    for (int kind = 0; kind < NSP_ALL_KINDS; kind = nsp_next_kind(run, kind))
        batch(cpu, kind, 0);
    if (!run->entry_ns)
        return run->batches;
    affordable = (uint64_t)run->kinds * run->entry_ns / (nsp_monotonic_raw_ns() - begin_ns + 1);
    if (affordable < NSP_LEAST_BATCHES)
        affordable = NSP_LEAST_BATCHES;
    return affordable < run->batches ? (uint32_t)affordable : run->batches;
}

void nsp_time_turn(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu, uint32_t turn)
{
    if (turn == 0)
        cpu->batches = affordable_batches(run, cpu);
    for (int kind = 0; kind < NSP_ALL_KINDS; kind = nsp_next_kind(run, kind)) {
        const uint32_t begin = cpu->batches * turn / NSP_TURNS,
                       end = cpu->batches * (turn + 1) / NSP_TURNS;

        if (begin < end && cpu->batches >= LEAST_WITH_WARM_UP)
            batch(cpu, kind, begin); /* warms up caches and predictors; overwritten below */
        for (uint32_t i = begin; i < end; ++i)
            batch(cpu, kind, i);
    }
}

void nsp_time_entries(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu)
{
    for (int kind = 0; kind < NSP_ALL_KINDS; kind = nsp_next_kind(run, kind)) {
        nsp_add_entry(run, cpu, kind, 0, 0, &cpu->after_work[kind], cpu->batches);
        nsp_add_entry(run, cpu, kind, NSLICE_ENTRY_ALONE, 0, &cpu->alone[kind], cpu->batches);
        if (kind == 0)
            nsp_add_entry(run, cpu, kind, NSLICE_ENTRY_OVERTAKING, 0, &cpu->overtaking,
                          cpu->batches);
    }
}
