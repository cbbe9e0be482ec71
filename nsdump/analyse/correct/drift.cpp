// SPDX-License-Identifier: MIT
// analyse: calibrations at both ends of a session -> whether the constants moved in between.
#include "analyse/correct/drift.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analyse/correct/calibration_rows.hpp"

namespace nsdump
{
namespace
{
// One constant at one end of the session.
struct AtEnd {
    double value;
    double ci95;
    double degrees;
    double alone; // without work that hides a part of it
};

AtEnd inner_of(const CalibrationRow &row)
{
    return {row.inner, row.inner_ci95, row.degrees,
            row.inner + row.hidden.value_or(Hidden{}).inner};
}

AtEnd outer_of(const CalibrationRow &row)
{
    return {row.outer, row.outer_ci95, row.degrees,
            row.outer + row.hidden.value_or(Hidden{}).outer};
}

// By which share of its cost alone a constant moved: the part that work does not hide may be small
// or negative.
double moved_share(const AtEnd &start, const AtEnd &end)
{
    const double moved = std::fabs(end.value - start.value);
    const double cost = std::fmax(std::fabs(start.alone), std::fabs(end.alone));
    return moved > 0 ? moved / cost : 0;
}

bool is_by_chance(const AtEnd &start, const AtEnd &end)
{
    Uncertainty difference;
    difference.add_ci95(start.ci95, start.degrees);
    difference.add_ci95(end.ci95, end.degrees);
    return std::fabs(end.value - start.value) <= difference.ci95();
}

struct BothEnds {
    CalibrationRow start;
    CalibrationRow end;
};

BothEnds mean_of(const std::vector<BothEnds> &cpus)
{
    const CalibrationRow &any = cpus.front().start;
    RowSum start, end;
    for (const BothEnds &one : cpus) {
        start.add(one.start);
        end.add(one.end);
    }
    return {start.mean(NSLICE_ANY_CPU, any.probe, any.field),
            end.mean(NSLICE_ANY_CPU, any.probe, any.field)};
}

// Sets the verdict.  The mean hides how far a single CPU moved.
void judge(Drift &drift, const std::vector<BothEnds> &cpus, const BothEnds &mean,
           AtEnd (*constant_of)(const CalibrationRow &))
{
    const AtEnd start = constant_of(mean.start), end = constant_of(mean.end);
    drift.start = start.value;
    drift.end = end.value;
    drift.is_significant = moved_share(start, end) > kDriftShare && !is_by_chance(start, end);
    if (drift.is_significant || drift.field != 0)
        return;
    double furthest = kLargeDriftShare;
    for (const BothEnds &cpu : cpus) {
        const AtEnd before = constant_of(cpu.start), after = constant_of(cpu.end);
        if (moved_share(before, after) <= furthest)
            continue;
        furthest = moved_share(before, after);
        drift.is_significant = true;
        drift.on_cpu = {cpu.start.cpu, before.value, after.value};
    }
}
} // namespace

std::vector<Drift> drift_of(const std::vector<CalibrationRow> &start,
                            const std::vector<CalibrationRow> &end, bool is_kernel)
{
    std::map<std::tuple<uint32_t, unsigned, unsigned>, const CalibrationRow *> later;
    for (const CalibrationRow &row : end)
        later[{row.cpu, row.probe, row.field}] = &row;
    std::map<std::pair<unsigned, unsigned>, std::vector<BothEnds>> by_constant; // field and probe
    for (const CalibrationRow &row : start)
        // A share of a small difference says nothing.
        if (const auto found = later.find({row.cpu, row.probe, row.field});
            found != later.end() && row.probe != kBehind)
            by_constant[{row.field, row.probe}].push_back({row, *found->second});
    std::vector<Drift> drift;
    for (const auto &[key, cpus] : by_constant) {
        const auto [field, probe] = key;
        const BothEnds mean = mean_of(cpus);
        if (probe == kPair || probe >= kFirstWay)
            judge(drift.emplace_back(Drift{is_kernel, probe, field, true}), cpus, mean, inner_of);
        judge(drift.emplace_back(Drift{is_kernel, probe, field, false}), cpus, mean, outer_of);
    }
    return drift;
}
} // namespace nsdump
