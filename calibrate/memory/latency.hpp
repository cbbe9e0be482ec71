// SPDX-License-Identifier: MIT
// latency: sizes and page sizes -> how long a load takes when the memory in use is that large.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/command/status_line.hpp"
#include "memory/caches.hpp"
#include "memory/median.hpp"
#include "memory/region.hpp"
#include "report/warnings.hpp"

namespace calibrate
{
struct LatencyPlan {
    std::vector<uint64_t> sizes; // bytes; ascending
    std::vector<uint64_t> pages; // small pages of which one line each is used; ascending
    unsigned passes = 5;
    unsigned batches_per_pass = 25;
    uint32_t most_loads_per_batch = 16384; // fewer where they are slow
};

// Up to eight times the last cache, as far as a quarter of the available memory and `largest` (0:
// no limit) allow.
LatencyPlan plan_latency(const std::vector<Cache> &caches, std::optional<uint64_t> available,
                         uint64_t largest);

// Ticks of a load.
struct LatencyPoint {
    uint64_t bytes = 0;                                 // of all lines, each of which is used
    std::vector<std::vector<double>> alone, overlapped; // by pass

    Median ticks() const { return median_of_passes(alone); }
    Median overlapped_ticks() const { return median_of_passes(overlapped); }
};

struct LatencySeries {
    Pages pages = Pages::small;
    uint64_t step_bytes = 0; // from one place to the next
    std::vector<LatencyPoint> points;
};

struct LatencyRun {
    uint64_t page_bytes = 0;            // of small pages
    LatencySeries small, huge, by_page; // huge has no points if there are no huge pages
    double huge_share = 0;              // of the memory that was to be on huge pages
    std::string why_not_huge;
    RunFacts facts;
    bool was_interrupted = false;
};

// The thread must be pinned.  Throws CannotMeasure.
LatencyRun run_latency(const LatencyPlan &plan, unsigned cpu, command::StatusLine &progress);
} // namespace calibrate
