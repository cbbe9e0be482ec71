// SPDX-License-Identifier: MIT
// compare: rules, and the reports of runs and of a baseline -> whether each rule holds.
#include "analyse/compare/gate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "analyse/compare/compare.hpp"
#include "analyse/compare/figure_names.hpp"
#include "analyse/compare/rule_figure.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
// Means of integers are rounded.
constexpr double kRounding = 1e-11;
// Rules of a file that nobody checked may apply to every slice of a trace with 65,000 of them.
constexpr size_t kMostResults = 200000;

// By how much the value misses its bound: at most 0 if it holds.
double excess(const Rule &rule, double value, double bound)
{
    switch (rule.order) {
    case RuleOrder::kAtMost:
    case RuleOrder::kBelow: return value - bound;
    case RuleOrder::kAtLeast:
    case RuleOrder::kAbove: return bound - value;
    case RuleOrder::kEqual: break;
    }
    return std::fabs(value - bound);
}

// `half95` is that of the difference between value and bound.
GateStatus status_of(const Rule &rule, double value, double bound, double half95)
{
    double over = excess(rule, value, bound);
    if (std::fabs(over) <= kRounding * std::fabs(bound))
        over = 0;
    if (half95 > 0) {
        if (over > half95)
            return GateStatus::kBroken;
        return rule.order != RuleOrder::kEqual && over < -half95 ? GateStatus::kHolds
                                                                 : GateStatus::kUndecided;
    }
    const bool excludes_bound = rule.order == RuleOrder::kBelow || rule.order == RuleOrder::kAbove;
    return over < 0 || (over == 0 && !excludes_bound) ? GateStatus::kHolds : GateStatus::kBroken;
}

Estimate scaled(Estimate estimate, double factor)
{
    estimate.value *= factor;
    estimate.within_error *= std::fabs(factor);
    estimate.between_variance *= factor * factor;
    return estimate;
}

// What a rule is judged on: a slice, or its ratio to another, in the runs and in the baseline.
struct Target {
    SliceKey slice;
    Divisor in_runs, in_baseline;
};

class Judge
{
public:
    Judge(const Runs &runs, const Runs &baseline, const GateOptions &options)
        : runs_(runs), baseline_(baseline), options_(options)
    {
    }
    void rule(const Rule &rule, std::vector<GateResult> &out) const;

private:
    void slice(const Target &target, GateResult &result) const;
    void against_limit(const Figures &found, GateResult &result) const;
    void against_baseline(const Target &target, const Figures &found, GateResult &result) const;
    void count(const Target &target, const Figures &found, GateResult &result) const;
    bool is_failing(const GateResult &result) const
    {
        const bool is_strict = options_.is_strict || result.rule->is_strict;
        return result.status != GateStatus::kHolds &&
               (result.status != GateStatus::kUndecided || is_strict);
    }

    RunsOfSide runs_, baseline_;
    GateOptions options_;
};

// Counts have no interval; each run has to hold, so the worst one is shown.
void Judge::count(const Target &target, const Figures &found, GateResult &result) const
{
    const Rule &rule = *result.rule;
    double limit = rule.limit;
    if (rule.is_of_baseline) {
        const Figures base = rule_figures(rule, baseline_, target.slice, target.in_baseline);
        if (base.of_runs.empty()) {
            result.why = "baseline: " + base.why;
            return;
        }
        limit = estimate_of(base.of_runs).value;
    }
    result.bound = rule.bound(limit);
    const auto worst = std::max_element(
        found.of_runs.begin(), found.of_runs.end(), [&](const Figure &one, const Figure &other) {
            return excess(rule, one.value, result.bound) < excess(rule, other.value, result.bound);
        });
    result.value = worst->value;
    result.status = status_of(rule, result.value, result.bound, 0);
}

void Judge::against_limit(const Figures &found, GateResult &result) const
{
    const Rule &rule = *result.rule;
    std::vector<Figure> figures = found.of_runs;
    // What was executed is known, unlike what other packets would make it execute.
    for (Figure &figure : figures)
        figure.half95 = figure.is_whole ? 0 : figure.half95;
    const Estimate estimate = estimate_of(figures);
    result.value = estimate.value;
    result.half95 = estimate.half95();
    result.bound = rule.bound(rule.limit);
    result.status = status_of(rule, result.value, result.bound, result.half95);
}

void Judge::against_baseline(const Target &target, const Figures &found, GateResult &result) const
{
    const Rule &rule = *result.rule;
    const Figures base = rule_figures(rule, baseline_, target.slice, target.in_baseline);
    if (base.of_runs.empty()) {
        result.why = "baseline: " + base.why;
        return;
    }
    const std::string field = field_of_rule(rule, runs_.runs().front());
    result.why = why_runs_differ(baseline_.runs(), runs_.runs(), field, target.slice.is_kernel,
                                 options_.compare);
    if (!result.why.empty())
        return;
    Estimate now = estimate_of(found.of_runs), then = estimate_of(base.of_runs);
    if (are_whole(base.of_runs, found.of_runs))
        now.within_error = then.within_error = 0;
    result.value = now.value;
    result.bound = rule.bound(then.value);
    const double factor = 1 + rule.tolerance_percent / 100;
    const Difference difference =
        difference_of(scaled(then, factor), now,
                      spread_of(field, options_.compare, baseline_.runs(), runs_.runs()));
    result.half95 = difference.half95();
    result.status = status_of(rule, result.value, result.bound, result.half95);
}

void Judge::slice(const Target &target, GateResult &result) const
{
    const Rule &rule = *result.rule;
    result.unit = rule_unit(rule);
    const Figures found = rule_figures(rule, runs_, target.slice, target.in_runs);
    if (found.of_runs.empty())
        result.why = found.why;
    else if (rule.is_of_baseline && baseline_.runs().empty())
        result.why = "there is no baseline (give one with --baseline)";
    else if (is_count_figure(rule.figure))
        count(target, found, result);
    else if (rule.is_of_baseline)
        against_baseline(target, found, result);
    else
        against_limit(found, result);
    result.fails = is_failing(result);
}

void Judge::rule(const Rule &rule, std::vector<GateResult> &out) const
{
    GateResult result;
    result.rule = &rule;
    if (rule.figure == "lost") {
        result.slice = "all records";
        slice({}, result);
        out.push_back(std::move(result));
        return;
    }
    const std::vector<SliceKey> slices = matching_slices(runs_, rule.slice);
    if (slices.empty()) {
        result.slice = rule.slice.text;
        result.why = "no such slice in " + runs_.runs().front().path;
        out.push_back(std::move(result));
        return;
    }
    Target target{{}, divisor_of(rule, runs_), divisor_of(rule, baseline_)};
    for (const SliceKey &key : slices) {
        if (out.size() >= kMostResults)
            throw TraceError(fmt::format("line {}: the rules apply to more than {} slices "
                                         "(select fewer by patterns)",
                                         rule.line, kMostResults));
        GateResult one = result;
        one.slice = key.name + (rule.divisor.empty() ? "" : " / " + rule.divisor[0].text);
        target.slice = key;
        slice(target, one);
        out.push_back(std::move(one));
    }
}
} // namespace

const char *status_name(GateStatus status)
{
    switch (status) {
    case GateStatus::kHolds: return "holds";
    case GateStatus::kUndecided: return "undecided";
    case GateStatus::kBroken: return "broken";
    case GateStatus::kNotJudged: break;
    }
    return "not judged";
}

std::vector<GateResult> judge_rules(const std::vector<Rule> &rules, const Runs &runs,
                                    const Runs &baseline, const GateOptions &options)
{
    const Judge judge(runs, baseline, options);
    std::vector<GateResult> out;
    for (const Rule &rule : rules)
        judge.rule(rule, out);
    return out;
}
} // namespace nsdump
