/* SPDX-License-Identifier: MIT */
/* Meter: opened and calibrated; the sums of its pairs -> net figures. */
#include "meter.h"

#include <errno.h>
#include <stdlib.h>

#define LEAST_NS_FOR_RATE 100000 /* a clock pair is read within 50 ns: an error of 0.05 % */

int nsp_meter_open(struct nsp_meter **out)
{
    struct nsp_meter *meter = calloc(1, sizeof(*meter));

    *out = meter;
    if (!meter)
        return -ENOMEM;
    meter->opened = nsp_clock_pair();
    nsp_meter_open_counters(meter);
    nsp_meter_calibrate(meter);
    return 0;
}

const char *nsp_meter_source(const struct nsp_meter *meter)
{
    return meter->counters.count == 0 ? "none"
           : meter->reads_registers   ? nsp_source_rdpmc.name
                                      : nsp_source_perf_read.name;
}

void nsp_meter_read(const struct nsp_meter *meter, const struct nsp_meter_sum *sum,
                    struct nsp_meter_net *net)
{
    const struct nsp_clock_pair now = nsp_clock_pair();
    const uint64_t ns = now.mono_ns - meter->opened.mono_ns;
    const double calls = (double)sum->calls, counted = (double)sum->counted_calls;

    net->ticks = (double)sum->ticks - calls * meter->ticks.mean;
    net->ticks_ci95 = calls * meter->ticks.ci95;
    net->instructions = (double)sum->instructions - counted * meter->instructions.mean;
    net->cycles = (double)sum->cycles - counted * meter->cycles.mean;
    net->cycles_ci95 = counted * meter->cycles.ci95;
    net->ticks_per_second =
        ns < LEAST_NS_FOR_RATE ? 0 : (double)(now.ticks - meter->opened.ticks) * 1e9 / (double)ns;
}

void nsp_meter_close(struct nsp_meter *meter)
{
    if (!meter)
        return;
    nsp_meter_close_counters(meter);
    free(meter);
}
