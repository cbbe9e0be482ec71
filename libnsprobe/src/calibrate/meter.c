/* SPDX-License-Identifier: MIT */
/* Meter: clock and counters around a piece of code -> sums -> net figures. */
#include "meter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/event.h"
#include "counters/perf_counter.h"
#include "writer/arch.h"

#define LEAST_NS_FOR_RATE 100000 /* a clock pair is read within 50 ns: an error of 0.05 % */

static const char *const names[NSP_METER_COUNTERS] = {"instructions", "cycles"};

static void close_counters(struct nsp_meter *meter)
{
    for (uint32_t i = 0; i < meter->counters.count; ++i)
        nsp_perf_counter_close(&meter->counters.counter[i]);
    meter->counters.count = 0;
}

/* Current totals, minus the cost of torn readings.  Returns 1, or 0 if they are unavailable now. */
static int read_words(struct nsp_meter *meter, uint64_t *words)
{
    const uint32_t count = meter->counters.count;

    if (count == 0)
        return 0;
    if (!meter->reads_registers)
        return nsp_perf_read_of(&meter->counters, words, count);
    if (!nsp_rdpmc_read_of(&meter->counters, meter->torn, words, count))
        return 0;
    for (uint32_t i = 0; i < count; ++i)
        words[i] -= meter->torn[i].detour;
    return 1;
}

/* Opens both or none; reads registers if all counters can be read from user space. */
static void open_counters(struct nsp_meter *meter)
{
    uint64_t words[NSP_METER_COUNTERS];

    meter->reads_registers = 1;
    for (uint32_t i = 0; i < NSP_METER_COUNTERS; ++i) {
        struct nsp_event event;

        if (nsp_event_find(names[i], &event))
            return close_counters(meter);
        nsp_perf_ask_for_user_reads(&event);
        if (nsp_perf_counter_open(&event, &meter->counters.counter[i]))
            return close_counters(meter);
        meter->counters.count = i + 1;
        meter->reads_registers &= nsp_perf_counter_has_user_reads(&meter->counters.counter[i]) != 0;
    }
    if (!read_words(meter, words)) /* no register was free for one of them */
        close_counters(meter);
}

int nsp_meter_open(struct nsp_meter **out)
{
    struct nsp_meter *meter = calloc(1, sizeof(*meter));

    *out = meter;
    if (!meter)
        return -ENOMEM;
    meter->opened = nsp_clock_pair();
    open_counters(meter);
    nsp_meter_calibrate(meter);
    return 0;
}

const char *nsp_meter_source(const struct nsp_meter *meter)
{
    return meter->counters.count == 0 ? "none"
           : meter->reads_registers   ? nsp_source_rdpmc.name
                                      : nsp_source_perf_read.name;
}

/* The clock reads are next to the code, the counter reads around them. */
void nsp_meter_begin(struct nsp_meter *meter)
{
    meter->has_begin_words = read_words(meter, meter->begin_words);
    meter->begin_ticks = nsp_clock_read(1);
}

void nsp_meter_end(struct nsp_meter *meter, struct nsp_meter_sum *sum)
{
    uint64_t words[NSP_METER_COUNTERS];

    sum->ticks += nsp_clock_read(1) - meter->begin_ticks;
    ++sum->calls;
    if (!read_words(meter, words) || !meter->has_begin_words)
        return;
    ++sum->counted_calls;
    sum->instructions += words[NSP_METER_INSTRUCTIONS] - meter->begin_words[NSP_METER_INSTRUCTIONS];
    sum->cycles += words[NSP_METER_CYCLES] - meter->begin_words[NSP_METER_CYCLES];
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
    close_counters(meter);
    free(meter);
}
