// SPDX-License-Identifier: MIT
// Intervals with slices of given values.
#pragma once

#include <string>

#include "cli/top/rows.hpp"

namespace top_fixture
{
inline nsdump::FieldReport field(const std::string &name, double mean, uint64_t count)
{
    nsdump::FieldReport field;
    field.field = name;
    field.count = count;
    field.raw.mean = mean + 10;
    field.raw.total = (mean + 10) * double(count);
    field.net = field.raw;
    field.net->mean = mean;
    field.net->total = mean * double(count);
    field.net->ci95 = mean / 10;
    return field;
}

inline nsdump::SliceReport slice(const std::string &name, uint64_t count, double mean_ticks)
{
    nsdump::SliceReport slice;
    slice.name = name;
    slice.count = count;
    slice.values.push_back(field("ticks", mean_ticks, count));
    return slice;
}

// Two seconds of a clock with two ticks in a nanosecond.
inline nsdump::TopInterval interval()
{
    nsdump::TopInterval interval;
    interval.seconds = 2;
    interval.elapsed_s = 10;
    interval.pid = 42;
    interval.program = "app";
    interval.live.report.clock.hz = 2e9;
    interval.live.report.clock.source = "tsc";
    interval.live.report.records = 2'000'000;
    interval.live.report.slices = {slice("few-long", 10, 1000), slice("many-short", 4000, 100),
                                   slice("some", 100, 500)};
    return interval;
}
} // namespace top_fixture
