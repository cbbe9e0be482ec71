// SPDX-License-Identifier: MIT
// compare: rules, and the reports of runs and of a baseline -> whether each rule holds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyse/compare/comparable.hpp"
#include "analyse/compare/rules.hpp"
#include "analyse/compare/side.hpp"

namespace nsdump
{
enum class GateStatus {
    kHolds,
    kUndecided, // the limit is inside the interval
    kBroken,
    kNotJudged, // there is no figure, or none that may be trusted
};
const char *status_name(GateStatus status);

// One rule on one slice.
struct GateResult {
    const Rule *rule = nullptr;
    std::string slice; // or the ratio, as in the rule
    double value = 0;
    double half95 = 0;
    double bound = 0; // the limit with its tolerance
    std::string unit;
    GateStatus status = GateStatus::kNotJudged;
    bool fails = true;
    std::string why; // not judged
};

struct GateOptions {
    CompareOptions compare;
    bool is_strict = false; // every rule is
};

// `baseline` may be empty.  At least one result for each rule, in their order.
std::vector<GateResult> judge_rules(const std::vector<Rule> &rules, const Runs &runs,
                                    const Runs &baseline, const GateOptions &options);
} // namespace nsdump
