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

// With the field's and the unit's name.
FieldReport counter_report(const FieldStats &stats, const std::string &counter,
                           bool keeps_histogram);

// Programs or the kernel, with the names of their counters.
struct Side {
    bool is_kernel;
    const std::vector<std::string> &counter_names;
    bool keeps_histograms = true;
};

// Adds the side's slices, units, marks and classes to the report.  Takes the slices from the
// collector, which must not be finished yet.
void summarise(const NameTable &names, const PairState &pairs, StatsCollector &stats,
               const Side &side, StatsReport &report);
} // namespace nsdump
