// SPDX-License-Identifier: MIT
// compare: the reports of two versions of a program, each with one run or several -> for every
// slice and field what differs, and whether that is shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyse/compare/comparable.hpp"
#include "analyse/compare/estimate.hpp"
#include "analyse/compare/side.hpp"

namespace nsdump
{
enum class Verdict { kFaster, kSlower, kNoDifference, kNotComparable };
inline constexpr Verdict kVerdicts[] = {Verdict::kFaster, Verdict::kSlower, Verdict::kNoDifference,
                                        Verdict::kNotComparable};
const char *verdict_name(Verdict verdict);

// Differences that occur by chance in fewer than this share of comparisons of equal runs.
inline constexpr double kChance = 0.05;

struct Comparison {
    std::string slice;
    bool is_kernel = false;
    std::string field; // "ticks" or a counter
    std::string unit;  // "ns" or the counter's, per packet or per slice
    bool is_per_packet = false;
    std::optional<Estimate> first, second; // none if not comparable
    Difference difference;
    double p_adjusted = 1; // Holm's, among all comparisons that are not exact
    Verdict verdict = Verdict::kNotComparable;
    std::string why; // not comparable
};

// In order of appearance in the first run of `first`; slices that only `second` has follow.
// `slice`: only of this name; empty: of all.
std::vector<Comparison> compare(const Runs &first, const Runs &second,
                                const CompareOptions &options, const std::string &slice = {});

// The standard deviation between runs to assume for this field, as a share of the value; see
// difference_of().  If it is not given, kLeastSpread, or the share of the calibrations in which
// another program used the core's other thread: beside it, code takes up to twice as long.
double spread_of(const std::string &field, const CompareOptions &options, const Runs &first,
                 const Runs &second);
// Why the runs themselves are not comparable with each other.
std::string why_runs_differ(const Runs &first, const Runs &second, const std::string &field,
                            bool is_kernel, const CompareOptions &options);
} // namespace nsdump
