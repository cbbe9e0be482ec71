// SPDX-License-Identifier: MIT
// A small calibrated trace with all classes, for tests of the exporters.
#pragma once

#include "analyse/analyse.hpp"
#include "nsdump_support.hpp"

namespace test_support
{
inline std::string varied_trace()
{
    TraceBuilder trace;
    trace.info(plain_info(1e9, "INSTRUCTIONS"));
    const std::vector<nslice_calibration_entry> entries = {entry(NSLICE_KIND_START, 0, 20, 40, 0.5),
                                                           entry(NSLICE_KIND_MARK, 0, 0, 10, 0.5),
                                                           entry(NSLICE_KIND_START, 1, 5, 9)};
    trace.calibration(NSLICE_CALIBRATION_START, 900, 0, entries, 26, 22.5);
    const auto unit = trace.site("batch", NSLICE_KIND_INIT);
    const auto rx = trace.site("rx,\"1\"", NSLICE_KIND_START, "net.c", 42);
    const auto tx = trace.site("tx");
    const auto mark = trace.site("length", NSLICE_KIND_MARK);
    trace.init(0, 1, unit, 1000, 7, 64, 4096);
    trace.start(0, 1, rx, 1010, {100});
    trace.mark(0, 1, mark, 1020, 5);
    trace.stop(0, 1, rx, 1110, {205});
    trace.exit(0, 1, unit, 1120);
    trace.start(0, 1, tx, 1130);
    trace.stop(0, 1, tx, 1145);
    trace.start(0, 1, tx, 1150);
    trace.stop(1, 1, tx, 1200);
    trace.stop(1, 1, tx, 1210);
    trace.lose(1, NSLICE_LOST_FULL, 2);
    trace.calibration(NSLICE_CALIBRATION_END, 1300, 400, entries, 26, 22.5);
    trace.footer(NSLICE_END_CLOSED, 1300, 400);
    return trace.bytes();
}

// `count` slices of 100, 101, ... ticks, with inner = 20.
inline nsdump::StatsReport report_of_slices(unsigned count)
{
    TraceBuilder trace;
    trace.info(plain_info());
    trace.calibration(NSLICE_CALIBRATION_START, 900, 0, {entry(NSLICE_KIND_START, 0, 20, 40)});
    const auto rx = trace.site("rx");
    for (unsigned i = 0; i < count; ++i) {
        trace.start(0, 1, rx, 10000 * (i + 1));
        trace.stop(0, 1, rx, 10000 * (i + 1) + 100 + i);
    }
    trace.footer(NSLICE_END_CLOSED, 1300, 400);
    nsdump::TraceFile file(source_of(trace.bytes()));
    return nsdump::analyse_trace(file);
}

inline nsdump::StatsReport varied_report()
{
    nsdump::TraceFile trace(source_of(varied_trace(), "varied.nsl"));
    return nsdump::analyse_trace(trace);
}
} // namespace test_support
