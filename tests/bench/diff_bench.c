/* SPDX-License-Identifier: MIT */
/* diff_bench: number of units, extra steps -> slices of known length, for diff_bench.py. */
#include <stdlib.h>

#include <nsprobe/probe.h>

enum { kParseSteps = 100, kFilterSteps = 400 };

static volatile unsigned long sink;

static void work(long steps)
{
    for (long step = 0; step < steps; ++step)
        sink += (unsigned long)step;
}

int main(int argc, char **argv)
{
    const long units = argc > 1 ? atol(argv[1]) : 1000, extra = argc > 2 ? atol(argv[2]) : 0;

    for (long unit = 0; unit < units; ++unit) {
        NET_SLICE_INIT(batch, unit, 1, 64);
        NET_SLICE_START(parse);
        work(kParseSteps + extra);
        NET_SLICE_STOP(parse);
        NET_SLICE_START(filter);
        work(kFilterSteps);
        NET_SLICE_STOP(filter);
        NET_SLICE_EXIT(batch);
    }
    return 0;
}
