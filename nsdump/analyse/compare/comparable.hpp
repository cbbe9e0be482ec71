// SPDX-License-Identifier: MIT
// compare: two reports -> why a figure of one cannot be compared with that of the other.
#pragma once

#include <string>

#include "analyse/report.hpp"

namespace nsdump
{
struct CompareOptions {
    double run_spread = 0.05;     // see difference_of(); of time, and counters but instructions
    bool across_machines = false; // compares figures of other machines nevertheless
};

// Empty if nothing speaks against it.  `field` is "ticks" or a counter.
std::string why_not_comparable(const StatsReport &first, const StatsReport &second,
                               const std::string &field, bool is_kernel,
                               const CompareOptions &options);
// Why a slice's figure of this run is not to be judged at all.
std::string why_not_usable(const SliceReport &slice, const FieldReport &field,
                           const StatsReport &report);
} // namespace nsdump
