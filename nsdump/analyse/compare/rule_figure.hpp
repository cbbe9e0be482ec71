// SPDX-License-Identifier: MIT
// compare: what a rule is about, in one slice or a ratio of two -> its figure in every run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyse/compare/rules.hpp"
#include "analyse/compare/side.hpp"

namespace nsdump
{
// A slice of the runs, by which RunsOfSide finds it.
struct SliceKey {
    std::string name;
    bool is_kernel = false;

    bool operator==(const SliceKey &) const = default;
};

// In order of appearance, of all runs.
std::vector<SliceKey> matching_slices(const RunsOfSide &side, const NameOrPattern &pattern);

// What the rule divides by, in the slices of these runs.
struct Divisor {
    size_t matches = 0; // 1 is needed
    SliceKey slice;
};
Divisor divisor_of(const Rule &rule, const RunsOfSide &side);

// The figure of the rule, or the reason why the rule cannot be judged.
Figures rule_figures(const Rule &rule, const RunsOfSide &side, const SliceKey &slice,
                     const Divisor &divisor);
// "ns" or the counter; with what it is per.
std::string rule_unit(const Rule &rule);
// Without "net_" or "raw_": "ns" or the counter, in lower case.
std::string_view counter_of(const Rule &rule);
// "ticks" or the counter's name in this trace; empty if it has neither.
std::string field_of_rule(const Rule &rule, const StatsReport &report);
} // namespace nsdump
