// SPDX-License-Identifier: MIT
// memory_report: latencies -> tables, and JSON with schema netslice-memory-1.
#pragma once

#include <string>
#include <vector>

#include "memory/levels.hpp"
#include "report/environment.hpp"

namespace calibrate
{
struct MemoryReport {
    const Environment &environment;
    const std::vector<Cache> &caches;
    const LatencyPlan &plan;
    const LatencyRun &run;
    const std::vector<Level> &levels;
    const std::vector<Warning> &warnings;
};

std::string memory_text(const MemoryReport &report);
std::string memory_json(const MemoryReport &report);
} // namespace calibrate
