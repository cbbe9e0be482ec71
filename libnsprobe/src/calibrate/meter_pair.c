/* SPDX-License-Identifier: MIT */
/* A meter's pair of begin and end: clock and counters around a piece of code -> its sums. */
#include "meter.h"

#include "counters/event.h"
#include "counters/perf_counter.h"
#include "writer/arch.h"

static const char *const names[NSP_METER_COUNTERS] = {"instructions", "cycles"};

void nsp_meter_close_counters(struct nsp_meter *meter)
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

void nsp_meter_open_counters(struct nsp_meter *meter)
{
    uint64_t words[NSP_METER_COUNTERS];

    meter->reads_registers = 1;
    for (uint32_t i = 0; i < NSP_METER_COUNTERS; ++i) {
        struct nsp_event event;

        if (nsp_event_find(names[i], &event))
            return nsp_meter_close_counters(meter);
        nsp_perf_ask_for_user_reads(&event);
        if (nsp_perf_counter_open(&event, &meter->counters.counter[i]))
            return nsp_meter_close_counters(meter);
        meter->counters.count = i + 1;
        meter->reads_registers &= nsp_perf_counter_has_user_reads(&meter->counters.counter[i]) != 0;
    }
    if (!read_words(meter, words)) /* no register was free for one of them */
        nsp_meter_close_counters(meter);
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
