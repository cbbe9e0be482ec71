// SPDX-License-Identifier: MIT
// compare: two reports -> why a figure of one cannot be compared with that of the other.
#pragma once

#include <optional>
#include <string>

#include "analyse/report.hpp"

namespace nsdump
{
// The standard deviation of times between runs that is assumed at least, as a share of the value.
inline constexpr double kLeastSpread = 0.05;

struct CompareOptions {
    std::optional<double> run_spread; // none: see spread_of()
    bool across_machines = false;     // compares figures of other machines nevertheless
};

// Empty if nothing speaks against it.  `field` is "ticks" or a counter.
std::string why_not_comparable(const StatsReport &first, const StatsReport &second,
                               const std::string &field, bool is_kernel,
                               const CompareOptions &options);
// Why a slice's figure of this run is not to be judged at all.
std::string why_not_usable(const SliceReport &slice, const FieldReport &field,
                           const StatsReport &report);
} // namespace nsdump
