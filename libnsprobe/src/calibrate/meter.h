/* SPDX-License-Identifier: MIT */
/* Inside of a meter: its counters and its own cost. */
#ifndef NSP_METER_H
#define NSP_METER_H

#include <nsprobe/meter.h>

#include "counters/counters.h"
#include "writer/clock_pair.h"

enum { NSP_METER_INSTRUCTIONS, NSP_METER_CYCLES, NSP_METER_COUNTERS };

/* Cost of one begin and its end. */
struct nsp_meter_cost {
    double mean;
    double ci95;
};

struct nsp_meter {
    struct nsp_perf_thread counters; /* none: only ticks */
    struct nsp_thread_counter torn[NSP_METER_COUNTERS];
    int reads_registers;
    struct nsp_clock_pair opened;
    struct nsp_meter_cost ticks, cycles, instructions;

    uint64_t begin_ticks;
    uint64_t begin_words[NSP_METER_COUNTERS];
    int has_begin_words;
};

/* Opens both counters or none; reads registers if both can be read from user space. */
void nsp_meter_open_counters(struct nsp_meter *meter);
void nsp_meter_close_counters(struct nsp_meter *meter);

/*
 * Measures the meter's own cost, around code that waits for its own results and around none, like a
 * calibration.
 */
void nsp_meter_calibrate(struct nsp_meter *meter);

#endif /* NSP_METER_H */
