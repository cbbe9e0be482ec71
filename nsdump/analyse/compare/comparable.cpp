// SPDX-License-Identifier: MIT
// compare: two reports -> why a figure of one cannot be compared with that of the other.
#include "analyse/compare/comparable.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "analyse/correct/calibration_rows.hpp"
#include "analyse/correct/drift.hpp"

namespace nsdump
{
namespace
{
std::string info_of(const StatsReport &report, const char *key)
{
    const auto found = report.info.find(key);
    return found == report.info.end() ? "" : found->second;
}

std::string differing(const char *what, const std::string &first, const std::string &second)
{
    const auto known = [](const std::string &text) { return text.empty() ? "unknown" : text; };
    return fmt::format("{}: {} and {}", what, known(first), known(second));
}

// The kernel and the number of CPUs affect times, not what a program executes.  The model affects
// both, since libraries choose code by it.
struct MachineKey {
    const char *name;
    bool affects_counters;
};
constexpr MachineKey kMachineKeys[] = {{"machine.arch", true},
                                       {"machine.cpu", true},
                                       {"machine.cpus", false},
                                       {"machine.virtualised", false},
                                       {"machine.kernel", false}};

// Some traces have a hypervisor's name as cpuid has it, KVMKVMKVM, and others have it once.
std::string machine_info(const StatsReport &report, const char *key)
{
    std::string text = info_of(report, key);
    if (std::string_view(key) != "machine.virtualised")
        return text;
    for (size_t copy = 3; copy <= text.size() / 2; ++copy)
        if (text.size() % copy == 0 && text.ends_with(text.substr(0, text.size() - copy)))
            return text.substr(0, copy);
    return text;
}

std::string other_machine(const StatsReport &first, const StatsReport &second, bool is_time)
{
    for (const MachineKey &key : kMachineKeys)
        if (is_time || key.affects_counters)
            if (const std::string one = machine_info(first, key.name),
                other = machine_info(second, key.name);
                one != other)
                return differing("other machine", one, other);
    return "";
}

// One constant of the pair of probes over all CPUs and both ends of a session.
struct Constant95 {
    double value = 0;
    double half95 = 0;
    double cost = 0; // also what work hides of it
};

struct PairCost {
    Constant95 inner, outer;
};

std::optional<PairCost> pair_cost(const std::vector<CalibrationRow> &start,
                                  const std::vector<CalibrationRow> &end)
{
    RowSum both;
    double least_inner = INFINITY, most_inner = -INFINITY;
    double least_outer = INFINITY, most_outer = -INFINITY;
    for (const auto *rows : {&start, &end})
        for (const CalibrationRow &row : *rows)
            if (row.probe == kPair && row.field == 0) {
                both.add(row);
                least_inner = std::min(least_inner, row.inner);
                most_inner = std::max(most_inner, row.inner);
                least_outer = std::min(least_outer, row.outer);
                most_outer = std::max(most_outer, row.outer);
            }
    if (both.rows == 0)
        return std::nullopt;
    const CalibrationRow mean = both.mean(NSLICE_ANY_CPU, kPair, 0);
    const Hidden hidden = mean.hidden.value_or(Hidden{});
    // What differs between CPUs and between both ends may differ between sessions as well.
    return PairCost{{mean.inner, mean.inner_ci95 + (most_inner - least_inner) / 2,
                     std::fabs(mean.inner + hidden.inner)},
                    {mean.outer, mean.outer_ci95 + (most_outer - least_outer) / 2,
                     std::fabs(mean.outer + hidden.outer)}};
}

bool differ(const Constant95 &first, const Constant95 &second, double cost)
{
    const double moved = std::fabs(first.value - second.value);
    return moved > kLargeDriftShare * cost && moved > std::hypot(first.half95, second.half95);
}

std::string other_calibration(const StatsReport &first, const StatsReport &second, bool is_kernel)
{
    const auto cost_of = [&](const StatsReport &report) {
        return is_kernel ? pair_cost(report.calibration_kernel, report.calibration_kernel_end)
                         : pair_cost(report.calibration_start, report.calibration_end);
    };
    const auto one = cost_of(first), other = cost_of(second);
    if (!one || !other)
        return "";
    // The share is of what a probe costs altogether: inner may be near 0.
    const double cost = std::max(one->outer.cost, other->outer.cost);
    const auto words = [](const char *what, const Constant95 &a, const Constant95 &b) {
        return fmt::format("other calibration: {} {:.2f} and {:.2f} ticks", what, a.value, b.value);
    };
    if (differ(one->outer, other->outer, cost))
        return words("outer", one->outer, other->outer);
    if (differ(one->inner, other->inner, cost))
        return words("inner", one->inner, other->inner);
    return "";
}

std::string other_clock(const StatsReport &first, const StatsReport &second)
{
    if (first.clock.source != second.clock.source)
        return differing("other clock", first.clock.source, second.clock.source);
    if (first.clock.mode != second.clock.mode)
        return differing("other clock mode", first.clock.mode, second.clock.mode);
    return "";
}
} // namespace

std::string why_not_comparable(const StatsReport &first, const StatsReport &second,
                               const std::string &field, bool is_kernel,
                               const CompareOptions &options)
{
    const bool is_time = field == "ticks";
    std::string why;
    if (!options.across_machines)
        why = other_machine(first, second, is_time);
    if (why.empty() && is_time)
        why = other_clock(first, second);
    // Other machines have other costs: that is no further reason.
    if (why.empty() && is_time && !options.across_machines)
        why = other_calibration(first, second, is_kernel);
    if (why.empty() && !is_time && !is_kernel && first.counter_source != second.counter_source)
        why = differing("other counter source", first.counter_source, second.counter_source);
    return why;
}

std::string why_not_usable(const SliceReport &slice, const FieldReport &field,
                           const StatsReport &report)
{
    if (slice.is_incomplete)
        return "figures incomplete: parts of the trace are missing or damaged";
    if (!field.net)
        return "raw values only: not calibrated";
    if (field.field != "ticks")
        return "";
    if (!(report.clock.hz > 0))
        return "the clock's rate is not in the trace";
    const auto invariant = report.info.find("clock.invariant");
    if (invariant != report.info.end() && invariant->second == "no")
        return "the clock's rate is not constant";
    // What half of the slices do not show is not their work.
    if (2 * slice.below_noise > field.count)
        return "below noise: most slices have no net time above zero";
    return "";
}
} // namespace nsdump
