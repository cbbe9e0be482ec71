/* SPDX-License-Identifier: MIT */
/* Calibration loops: number of rounds -> records in calibration's rings, and their duration. */
#define NSP_DETAIL_SITE_SECTION "nsprobe_calibration_sites"
#include "calibrate_loops.h"

#include <nsprobe/detail/arch.h>

#include "work.h"
#include "writer/arch.h"
#include "writer/counted_block.h"

struct nsp_detail_state nsp_detail_calibration_state;

/* Created by the linker. */
extern struct nsp_site __start_nsprobe_calibration_sites[] __attribute__((visibility("hidden")));
extern struct nsp_site __stop_nsprobe_calibration_sites[] __attribute__((visibility("hidden")));

#define STATE "nsp_detail_calibration_state"
#define START NSP_DETAIL_PROBE(STATE, "calibration", NSLICE_KIND_START)
#define STOP NSP_DETAIL_PROBE(STATE, "calibration", NSLICE_KIND_STOP)
#define EXIT NSP_DETAIL_PROBE(STATE, "calibration", NSLICE_KIND_EXIT)
#define MARK NSP_DETAIL_PROBE_1(STATE, "calibration", NSLICE_KIND_MARK, word0)
#define INIT NSP_DETAIL_PROBE_3(STATE, "calibration", NSLICE_KIND_INIT, word0, word1, word2)

#define WORK NSP_WORK(work)
#define LONG_WORK NSP_LONG_WORK(work)

/* One function per loop, so that each has all registers available. */
#define LOOP(name, ...)                                         \
    static __attribute__((noinline)) void name(uint32_t rounds) \
    {                                                           \
        uint64_t work = 3;                                      \
        NSP_DETAIL_WORDS(word0, word1, word2);                  \
                                                                \
        (void)work;                                             \
        NSP_RUN_ROUNDS(rounds, __VA_ARGS__);                    \
    }

LOOP(pairs, START; STOP)
LOOP(marks, MARK)
LOOP(inits, INIT)
LOOP(exits, EXIT)
LOOP(starts, START)
LOOP(stops, STOP)
LOOP(marks_in_pairs, START; MARK; STOP)
LOOP(inits_in_pairs, START; INIT; STOP)
LOOP(exits_in_pairs, START; EXIT; STOP)
LOOP(work_alone, WORK)
LOOP(work_pairs, WORK; START; WORK; STOP)
LOOP(work_marks, WORK; MARK)
LOOP(work_inits, WORK; INIT)
LOOP(work_exits, WORK; EXIT)
LOOP(work_starts, WORK; START)
LOOP(work_stops, WORK; STOP)
LOOP(long_work_alone, LONG_WORK)
LOOP(long_pairs, START; LONG_WORK; STOP)

void nsp_loops_switch(uint32_t mode)
{
    for (struct nsp_site *site = __start_nsprobe_calibration_sites;
         site < __stop_nsprobe_calibration_sites; ++site)
        site->mode = nsp_counted_mode(mode, site->head_bits >> 16 & 0xff);
    if (&nsp_detail_functions) {
        nsp_detail_functions.slice->start.mode = nsp_counted_mode(mode, NSLICE_KIND_START);
        nsp_detail_functions.slice->stop.mode = nsp_counted_mode(mode, NSLICE_KIND_STOP);
    }
}

uint64_t nsp_run_loop(enum nsp_loop loop, uint32_t rounds)
{
    static void (*const loops[NSP_LOOP_KINDS])(uint32_t) = {
        [NSP_LOOP_PAIR] = pairs,
        [NSP_LOOP_MARK] = marks,
        [NSP_LOOP_INIT] = inits,
        [NSP_LOOP_EXIT] = exits,
        [NSP_LOOP_START] = starts,
        [NSP_LOOP_STOP] = stops,
        [NSP_LOOP_MARK_IN_PAIR] = marks_in_pairs,
        [NSP_LOOP_INIT_IN_PAIR] = inits_in_pairs,
        [NSP_LOOP_EXIT_IN_PAIR] = exits_in_pairs,
        [NSP_LOOP_WORK] = work_alone,
        [NSP_LOOP_WORK_PAIR] = work_pairs,
        [NSP_LOOP_WORK_MARK] = work_marks,
        [NSP_LOOP_WORK_INIT] = work_inits,
        [NSP_LOOP_WORK_EXIT] = work_exits,
        [NSP_LOOP_WORK_START] = work_starts,
        [NSP_LOOP_WORK_STOP] = work_stops,
        [NSP_LOOP_LONG_WORK] = long_work_alone,
        [NSP_LOOP_LONG_PAIR] = long_pairs,
    };
    const unsigned of_way = (unsigned)loop - NSP_LOOP_KINDS;
    void (*const run)(uint32_t) =
        loop < NSP_LOOP_KINDS
            ? loops[loop]
            : nsp_detail_functions.loops[of_way / NSP_WAY_LOOPS][of_way % NSP_WAY_LOOPS];
    const uint64_t begin = nsp_clock_read(1);

    run(rounds);
    return nsp_clock_read(1) - begin;
}
