/* SPDX-License-Identifier: MIT */
/* What happened around a calibration -> INFO lines. */
#define _GNU_SOURCE
#include "surroundings.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "writer/clock_pair.h"

#define MUCH_TAKEN 10 /* a tenth */

/* Involuntary context switches of the thread. */
static uint64_t preempted(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) ? 0 : (uint64_t)usage.ru_nivcsw;
}

uint64_t nsp_stolen_ms(void)
{
    FILE *file = fopen("/proc/stat", "re");
    const long per_second = sysconf(_SC_CLK_TCK);
    unsigned long long stolen = 0;
    int got = 0;

    if (file) {
        got = fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &stolen);
        fclose(file);
    }
    return got == 1 && per_second > 0 ? stolen * 1000 / (unsigned long long)per_second : 0;
}

void nsp_surroundings_begin(struct nsp_surroundings *surroundings)
{
    memset(surroundings, 0, sizeof(*surroundings));
    surroundings->stolen_begin_ms = nsp_stolen_ms();
}

void nsp_surroundings_look(struct nsp_surroundings *surroundings, uint32_t cpu)
{
    struct nsp_cpu_looks *const looks = &surroundings->cpu[cpu];

    if (looks->count < NSP_MAX_LOOKS)
        nsp_core_look_read(&looks->look[looks->count++]);
    if (cpu >= surroundings->cpus)
        surroundings->cpus = cpu + 1;
}

static uint64_t thread_ns(void)
{
    struct timespec used = {0, 0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

struct nsp_turn nsp_turn_begin(void)
{
    return (struct nsp_turn){nsp_monotonic_raw_ns(), thread_ns(), preempted()};
}

int nsp_turn_was_taken_away(struct nsp_surroundings *surroundings, const struct nsp_turn *turn)
{
    const uint64_t elapsed_ns = nsp_monotonic_raw_ns() - turn->begin_ns,
                   used_ns = thread_ns() - turn->thread_begin_ns;

    surroundings->preempted += preempted() - turn->preempted_before;
    return elapsed_ns > used_ns && (elapsed_ns - used_ns) * MUCH_TAKEN > elapsed_ns;
}

void nsp_surroundings_text(struct nsp_surroundings *surroundings, char *text, size_t room)
{
    uint32_t looks = 0, shared = 0;
    double range = 0, gap_ticks = 0;
    uint64_t stolen_ms;

    text[0] = 0;
    for (uint32_t cpu = 0; cpu < surroundings->cpus; ++cpu) {
        struct nsp_cpu_looks *const at = &surroundings->cpu[cpu];
        struct nsp_core_summary core;

        nsp_core_summarise(at->look, at->count, 0, &core);
        looks += core.looks;
        shared += core.shared;
        if (core.frequency_range > range)
            range = core.frequency_range;
        if (core.longest_gap_ticks > gap_ticks)
            gap_ticks = core.longest_gap_ticks;
    }
    if (looks == 0)
        return;
    stolen_ms = nsp_stolen_ms(); /* may be less, if the machine has moved to another host */
    stolen_ms -=
        stolen_ms < surroundings->stolen_begin_ms ? stolen_ms : surroundings->stolen_begin_ms;
    snprintf(text, room,
             "calibrate.looks=%u\ncalibrate.sibling=%.3f\ncalibrate.frequency=%.4f\n"
             "calibrate.steal_ms=%llu\ncalibrate.gap_ticks=%.0f\ncalibrate.preempted=%llu\n"
             "calibrate.repeated=%u\n",
             looks, (double)shared / looks, range, (unsigned long long)stolen_ms, gap_ticks,
             (unsigned long long)surroundings->preempted, surroundings->repeated);
}
