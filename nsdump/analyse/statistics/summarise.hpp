// SPDX-License-Identifier: MIT
// analyse: sums of the collector -> figures of the report.
#pragma once

#include <algorithm>

#include "analyse/pair/unpaired.hpp"
#include "analyse/report.hpp"
#include "analyse/statistics/stats.hpp"

namespace nsdump
{
// `step` is the granularity of the field's unit: the clock's step for ticks, 0 for counters.
// `bound`: of an error that the slices share, beside that of the constants.
FieldReport summarise_field(const FieldStats &stats, double step, bool keeps_histogram = true,
                            double bound = 0);

// With the field's and the unit's name.
FieldReport counter_report(const FieldStats &stats, const std::string &counter,
                           bool keeps_histogram);

// The line that put the kernel's clock on that of programs: a length may be wrong by a part of it,
// but not by more than both its ends.
struct LineError {
    double slope = 0;          // of the length
    double residual_ticks = 0; // of an end

    double of(double length_ticks) const
    {
        return std::min(slope * length_ticks, 2 * residual_ticks);
    }
};

LineError line_error_of(const Info &info, double ticks_per_ns);

// Programs or the kernel, with the names of their counters.
struct Side {
    bool is_kernel;
    const std::vector<std::string> &counter_names;
    bool keeps_histograms = true;
    LineError line = {};
};

// Adds the side's slices, units, marks and classes to the report.  Takes the slices from the
// collector, which must not be finished yet.
void summarise(const NameTable &names, const Unpaired &unpaired, StatsCollector &stats,
               const Side &side, StatsReport &report);
} // namespace nsdump
