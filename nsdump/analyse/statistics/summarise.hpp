// SPDX-License-Identifier: MIT
// analyse: sums of the collector -> figures of the report.
#pragma once

#include "analyse/pair/pair.hpp"
#include "analyse/report.hpp"
#include "analyse/statistics/stats.hpp"

namespace nsdump
{
// `step` is the granularity of the field's unit: the clock's step for ticks, 0 for counters.
FieldReport summarise_field(const FieldStats &stats, double step, bool keeps_histogram = true);

// Programs or the kernel, and what their counters are called.
struct Side {
    bool is_kernel;
    const std::vector<std::string> &counter_names;
    bool keeps_histograms = true;
};

// Takes the slices out of the collector, which is not finished yet.  Adds the side's slices, units, marks and classes.
void summarise(const NameTable &names, const PairState &pairs, StatsCollector &stats, const Side &side,
               StatsReport &report);
} // namespace nsdump
