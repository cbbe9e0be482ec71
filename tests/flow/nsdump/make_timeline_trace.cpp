// SPDX-License-Identifier: MIT
// make_timeline_trace FILE: a trace with all that is difficult on a timeline: two threads with
// parts of the same units, slices that begin or end together, that cross or lack a STOP,
// interrupts, system calls and idle CPUs of the kernel, losses in programs' and kernel rings, and a
// slice around more than a writer keeps.
#include <cstdio>

#include "support/trace_builder.hpp"

using test_support::TraceBuilder;

namespace
{
constexpr uint64_t kUnits = 2000; // with five slices each in the thread with the long slice

struct Sites {
    uint16_t unit, all, parse, word, send, crossing, early, length, call, interrupt;
};

// Times with few different values, as of a coarse clock: slices begin and end in the same tick.
void unit_of_first_thread(TraceBuilder &trace, const Sites &sites, uint64_t number, uint64_t at)
{
    uint64_t instructions = 1000 * number;
    trace.init(0, 100, sites.unit, at, number, 32, 2048);
    trace.start(0, 100, sites.parse, at, {instructions});
    trace.start(0, 100, sites.word, at, {instructions});
    trace.stop(0, 100, sites.word, at, {instructions + 10});
    trace.start(0, 100, sites.word, at, {instructions + 10});
    trace.stop(0, 100, sites.word, at + 40, {instructions + 50});
    trace.mark(0, 100, sites.length, at + 40, number);
    trace.start(TraceBuilder::kernel(0), 100, sites.interrupt, at + 50);
    trace.stop(TraceBuilder::kernel(0), 100, sites.interrupt, at + 60);
    trace.stop(0, 100, sites.parse, at + 80, {instructions + 300});
    trace.exit(0, 100, sites.unit, at + 90);
}

void unit_of_second_thread(TraceBuilder &trace, const Sites &sites, uint64_t number, uint64_t at)
{
    trace.init(1, 200, sites.unit, at, number, 32, 2048);
    trace.start(1, 200, sites.send, at + 5);
    trace.start(TraceBuilder::kernel(1), 200, sites.call, at + 10);
    trace.start(TraceBuilder::kernel(1), 200, sites.interrupt, at + 12);
    trace.stop(TraceBuilder::kernel(1), 200, sites.interrupt, at + 15);
    trace.stop(TraceBuilder::kernel(1), 200, sites.call, at + 20);
    if (number % 10 == 3)
        trace.start(1, 200, sites.early, at + 25); // returns without its STOP
    trace.stop(1, 200, sites.send, at + 30);
    if (number % 10 == 5) {
        trace.start(1, 200, sites.send, at + 40);
        trace.start(1, 200, sites.crossing, at + 42);
        trace.stop(1, 200, sites.send, at + 44);
        trace.stop(1, 200, sites.crossing, at + 46);
    }
    trace.exit(1, 200, sites.unit, at + 50);
    trace.start(TraceBuilder::kernel(1), 0, sites.interrupt, at + 60); // in the idle thread
    trace.stop(TraceBuilder::kernel(1), 0, sites.interrupt, at + 64);
    if (number % 100 == 50)
        trace.lose(1, NSLICE_LOST_FULL, 7);
    if (number % 100 == 70)
        trace.lose(TraceBuilder::kernel(1), NSLICE_LOST_OVERWRITTEN, 3);
}
} // namespace

int main(int count, char **words)
{
    using namespace test_support;
    if (count != 2) {
        std::fputs("usage: make_timeline_trace FILE\n", stderr);
        return 2;
    }
    TraceBuilder trace;
    trace.info(plain_info(2e9, "INSTRUCTIONS"));
    trace.calibration(NSLICE_CALIBRATION_START, 1000, 5'000'000'000'000'000,
                      {entry(NSLICE_KIND_START, 0, 2, 4), entry(NSLICE_KIND_START, 1, 5, 9)});
    trace.kernel_calibration({{NSLICE_ANY_CPU, NSLICE_KIND_START, 0, 10, 2048, 0, 4096, 0}});
    Sites sites{};
    sites.unit = trace.site("batch", NSLICE_KIND_INIT);
    sites.all = trace.site("all");
    sites.parse = trace.site("parse \"\xff\"");
    sites.word = trace.site("word");
    sites.send = trace.site("send");
    sites.crossing = trace.site("crossing");
    sites.early = trace.site("early");
    sites.length = trace.site("length", NSLICE_KIND_MARK);
    sites.call = trace.kernel_site("call");
    sites.interrupt = trace.kernel_site("interrupt", NSLICE_KIND_START, NSLICE_SITE_INTERRUPT);
    trace.start(0, 100, sites.all, 1990, {0});
    for (uint64_t number = 0; number < kUnits; ++number) {
        unit_of_first_thread(trace, sites, number, 2000 + 400 * number + 1);
        unit_of_second_thread(trace, sites, number, 2000 + 400 * number + 200);
    }
    trace.stop(0, 100, sites.all, 2000 + 400 * kUnits, {1000 * kUnits});
    trace.footer(NSLICE_END_CLOSED, 10'000'000, 5'000'000'005'000'000);
    trace.write(words[1]);
    return 0;
}
