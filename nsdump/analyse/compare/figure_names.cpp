// SPDX-License-Identifier: MIT
// compare: rules, and the traces they are for -> rules whose figure no trace can have.
#include "analyse/compare/figure_names.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyse/compare/rule_figure.hpp"

namespace nsdump
{
namespace
{
constexpr std::array kCountFigures = {"count",       "lost",     "migrated", "spans_loss",
                                      "unmatched",   "too_deep", "crossed",  "below_noise",
                                      "interrupted", "uncounted"};
// Events that the kernel has for every machine, in lower case.
constexpr std::array<std::string_view, 21> kCommonCounters = {"instructions",
                                                              "cycles",
                                                              "ref-cycles",
                                                              "bus-cycles",
                                                              "branches",
                                                              "branch-misses",
                                                              "branch-instructions",
                                                              "cache-references",
                                                              "cache-misses",
                                                              "stalled-cycles-frontend",
                                                              "stalled-cycles-backend",
                                                              "page-faults",
                                                              "faults",
                                                              "minor-faults",
                                                              "major-faults",
                                                              "context-switches",
                                                              "cs",
                                                              "cpu-migrations",
                                                              "migrations",
                                                              "cpu-clock",
                                                              "task-clock"};

// An event of a machine's own PMU has a PMU or a unit in its name.
bool is_counter_somewhere(std::string_view name)
{
    return std::ranges::count(kCommonCounters, name) > 0 || name.starts_with("papi_") ||
           name.find_first_of(":.") != name.npos;
}

bool is_known(const Rule &rule, const std::vector<const Runs *> &sides)
{
    if (is_count_figure(rule.figure) || is_counter_somewhere(counter_of(rule)))
        return true;
    return std::ranges::any_of(sides, [&](const Runs *runs) {
        return std::ranges::any_of(
            *runs, [&](const StatsReport &report) { return !field_of_rule(rule, report).empty(); });
    });
}

std::string known_figures(const std::vector<const Runs *> &sides)
{
    std::set<std::string> counters;
    for (const Runs *runs : sides)
        for (const StatsReport &report : *runs)
            for (const auto *names : {&report.counter_names, &report.kernel_counter_names})
                counters.insert(names->begin(), names->end());
    return fmt::format("net_ns, raw_ns, {}; counters of these traces: {}",
                       fmt::join(kCountFigures, ", "),
                       counters.empty() ? "none" : fmt::format("{}", fmt::join(counters, ", ")));
}
} // namespace

bool is_count_figure(const std::string &figure)
{
    return std::ranges::count(kCountFigures, figure) > 0;
}

std::vector<RuleFault> unknown_figures(const std::vector<Rule> &rules, const Runs &runs,
                                       const Runs &baseline)
{
    const std::vector<const Runs *> sides = {&runs, &baseline};
    std::vector<RuleFault> faults;
    for (const Rule &rule : rules)
        if (!is_known(rule, sides))
            faults.push_back({rule.line, rule.figure_column,
                              fmt::format("unknown figure {} (there are: {})", rule.figure,
                                          known_figures(sides))});
    return faults;
}
} // namespace nsdump
