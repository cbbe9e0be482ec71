// SPDX-License-Identifier: MIT
// compare: a file of rules -> what each demands of the figures of a trace, or what is wrong where.
//
//     SUBJECT: FIGURE [STATISTIC] COMPARISON LIMIT [TOLERANCE] [strict]
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nsdump
{
// A pattern as in `record --slices`, or a name in quotation marks.
struct NameOrPattern {
    std::string text;
    bool is_literal = false;

    bool matches(const std::string &name) const;
    // The records and losses of the trace are those of all slices.
    bool is_all() const { return !is_literal && text == "*"; }
};

enum class Statistic { kDefault, kMean, kTrimmed, kP50, kP90, kP99, kP999, kMin, kMax };
enum class RuleOrder { kAtMost, kAtLeast, kEqual, kBelow, kAbove };

struct Rule {
    size_t line = 0;  // from 1
    std::string text; // without comment
    NameOrPattern slice;
    std::vector<NameOrPattern> divisor; // of a ratio: one; otherwise none
    std::string figure;                 // in lower case: "net_ns", "instructions", "lost"
    size_t figure_column = 0;           // from 1
    bool is_per_packet = false;
    Statistic statistic = Statistic::kDefault;
    RuleOrder order = RuleOrder::kAtMost;
    bool is_of_baseline = false;
    double limit = 0;             // unless of the baseline
    double tolerance = 0;         // added to the limit
    double tolerance_percent = 0; // of the limit
    bool is_strict = false;       // undecided is broken

    double bound(double of_limit) const
    {
        return of_limit * (1 + tolerance_percent / 100) + tolerance;
    }
};

struct RuleFault {
    size_t line = 0; // both from 1
    size_t column = 0;
    std::string what; // and what to do
};

struct RuleFile {
    std::vector<Rule> rules;
    std::vector<RuleFault> faults; // the first of each line
};

inline constexpr size_t kMostRules = 1000;

RuleFile parse_rules(const std::string &text);

const char *order_name(RuleOrder order);
// Empty for the default.
const char *statistic_name(Statistic statistic);
} // namespace nsdump
