/* SPDX-License-Identifier: MIT */
/* The probes of a calibration: users' instructions on calibration's own state and rings. */
#ifndef NSP_CALIBRATE_LOOPS_H
#define NSP_CALIBRATE_LOOPS_H

#include <stdint.h>

#include <nsprobe/detail/functions.h>
#include <nsprobe/detail/state.h>

/*
 * Exported like nsp_detail_state, although used only here: the linker would replace
 * the load of a private symbol's address by an instruction without a load, and every
 * calibrated probe would be four cycles too cheap.
 */
extern struct nsp_detail_state nsp_detail_calibration_state;

/* Records of one round of a loop. */
enum nsp_loop {
    NSP_LOOP_PAIR,         /* START STOP */
    NSP_LOOP_MARK,         /* MARK */
    NSP_LOOP_INIT,         /* INIT */
    NSP_LOOP_EXIT,         /* EXIT */
    NSP_LOOP_START,        /* START */
    NSP_LOOP_STOP,         /* STOP */
    NSP_LOOP_MARK_IN_PAIR, /* START MARK STOP: for counters, which MARK does not carry */
    NSP_LOOP_INIT_IN_PAIR,
    NSP_LOOP_EXIT_IN_PAIR,
    NSP_LOOP_WORK,      /* a chain of dependent instructions, no probe */
    NSP_LOOP_WORK_PAIR, /* work START work STOP */
    NSP_LOOP_WORK_MARK, /* work MARK */
    NSP_LOOP_WORK_INIT,
    NSP_LOOP_WORK_EXIT,
    NSP_LOOP_WORK_START,
    NSP_LOOP_WORK_STOP,
    NSP_LOOP_LONG_WORK, /* more work than a clock read can overtake */
    NSP_LOOP_LONG_PAIR, /* START long work STOP: nothing before START */
    NSP_LOOP_KINDS,     /* from here on enum nsp_way_loop of each way */
};

static inline enum nsp_loop nsp_way_loop(unsigned way, enum nsp_way_loop loop)
{
    return (enum nsp_loop)(NSP_LOOP_KINDS + way * NSP_WAY_LOOPS + loop);
}

/* Turns the probes of the loops on in this mode (NSP_DETAIL_MODE_*), or off. */
void nsp_loops_switch(uint32_t mode);

/* Runs the unrolled body rounds / NSP_LOOP_UNROLLED times; returns the duration in ticks. */
uint64_t nsp_run_loop(enum nsp_loop loop, uint32_t rounds);

#endif /* NSP_CALIBRATE_LOOPS_H */
