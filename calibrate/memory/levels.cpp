// SPDX-License-Identifier: MIT
// levels: a latency at the size that stands for each level, and where the next one begins.
#include "memory/levels.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/command/numbers.hpp"
#include "memory/cycle.hpp"

namespace calibrate
{
namespace
{
constexpr double kSlower = 1.2; // a level than the one before it
constexpr uint64_t kFactorOfMemory = 4;

const LatencyPoint *point_at(const LatencySeries &series, uint64_t bytes)
{
    const auto found = std::find_if(series.points.begin(), series.points.end(),
                                    [=](const LatencyPoint &one) { return one.bytes == bytes; });
    return found == series.points.end() ? nullptr : &*found;
}

// Without page walks, as far as there are huge pages.
const LatencySeries &best_series(const LatencyRun &run)
{
    return run.huge.points.empty() ? run.small : run.huge;
}

double best_ticks(const Level &level)
{
    return (level.huge ? level.huge : level.small)->ticks().value;
}

void find_steps(const LatencyRun &run, std::vector<Level> &levels)
{
    for (size_t i = 0; i + 1 < levels.size(); ++i) {
        const double here = best_ticks(levels[i]), next = best_ticks(levels[i + 1]);
        if (next < here * kSlower)
            continue;
        const double beyond = std::min(2 * here, std::sqrt(here * next));
        for (const LatencyPoint &point : best_series(run).points)
            if (point.bytes > levels[i].measured_bytes && point.ticks().value >= beyond) {
                levels[i].step_bytes = point.bytes;
                break;
            }
    }
}

void add_level(const std::string &name, const std::optional<Cache> &cache, uint64_t bytes,
               const LatencyRun &run, std::vector<Level> &levels)
{
    const LatencyPoint *const small = point_at(run.small, bytes);
    if (!small || small->alone.empty())
        return;
    levels.push_back({name, cache, bytes, small, point_at(run.huge, bytes), {}});
}
} // namespace

bool Level::step_agrees() const
{
    return cache && step_bytes && *step_bytes >= cache->bytes / 2 &&
           *step_bytes <= cache->bytes * 2;
}

std::vector<Level> levels_of(const std::vector<Cache> &caches, const LatencyRun &run)
{
    std::vector<Level> levels;
    for (const Cache &cache : caches)
        add_level(fmt::format("L{}", cache.level), cache, size_for(caches, cache), run, levels);
    if (!run.small.points.empty()) {
        const uint64_t largest = run.small.points.back().bytes;
        if (!caches.empty() && largest >= kFactorOfMemory * caches.back().bytes)
            add_level("memory", {}, largest, run, levels);
    }
    find_steps(run, levels);
    return levels;
}

std::vector<Warning> level_warnings(const std::vector<Level> &levels)
{
    std::vector<Warning> said;
    for (size_t i = 0; i + 1 < levels.size(); ++i) {
        const Level &level = levels[i];
        if (!level.cache || level.step_agrees())
            continue;
        const std::string size = command::short_size(level.cache->bytes);
        said.push_back({level.step_bytes
                            ? fmt::format("{}: loads become slower at {}, not at its size of {}: "
                                          "others may use a part of it, or a virtual machine "
                                          "reports another size",
                                          level.name, command::short_size(*level.step_bytes), size)
                            : fmt::format("{}: {} is not slower than it by more than a fifth, so "
                                          "its size of {} could not be verified",
                                          level.name, levels[i + 1].name, size)});
    }
    return said;
}

std::optional<double> page_cost_ticks(const LatencyRun &run, const LatencyPoint &by_page)
{
    const LatencySeries &dense = best_series(run);
    if (dense.points.empty())
        return std::nullopt;
    const LatencyPoint *const same =
        point_at(dense, std::max(by_page.bytes, dense.points.front().bytes));
    if (!same || same->alone.empty() || by_page.alone.empty())
        return std::nullopt;
    return by_page.ticks().value - same->ticks().value;
}
} // namespace calibrate
