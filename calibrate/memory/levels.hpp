// SPDX-License-Identifier: MIT
// levels: latencies by size and the caches that the machine reports -> one latency for each level,
// and whether the latencies rise where the caches end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "memory/latency.hpp"

namespace calibrate
{
struct Level {
    std::string name;            // L1, L2, ..., memory
    std::optional<Cache> cache;  // absent: memory
    uint64_t measured_bytes = 0; // size_for() the cache; the largest size for memory
    const LatencyPoint *small = nullptr, *huge = nullptr;
    // The least size at which a load takes twice the time of this level, or the geometric mean of
    // this and the next one if that is less; absent if the next level was not measured or is not
    // slower.
    std::optional<uint64_t> step_bytes;

    // Between half and twice the size of the cache.
    bool step_agrees() const;
};

// Of the sizes that were measured; memory only if its size is at least four times the last cache.
std::vector<Level> levels_of(const std::vector<Cache> &caches, const LatencyRun &run);

// Sentences on levels whose step does not agree.
std::vector<Warning> level_warnings(const std::vector<Level> &levels);

// Additional ticks of a load for a page whose address the TLB does not have: a line in each of
// `pages` pages, minus the same number of lines side by side.
std::optional<double> page_cost_ticks(const LatencyRun &run, const LatencyPoint &by_page);
} // namespace calibrate
