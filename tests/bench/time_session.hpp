// SPDX-License-Identifier: MIT
// One session over all cells -> for each, the corrected time by probes and the time of the bare
// work, both with intervals.
#pragma once

#include <vector>

#include "time_cells.hpp"

namespace bench
{
// One cell in one session, in ticks; means with a twentieth trimmed at each end, half widths of 95
// % intervals.
struct Reading {
    double bare, bare_ci95;
    double raw;
    double net, net_ci95;
};

struct SessionReadings {
    double clock_hz = 0;
    uint64_t lost = 0;
    std::vector<std::vector<Reading>> readings; // by length, by cell
};

// `seed`: of the order in which the cells run, random in each pass.
SessionReadings run_time_session(const char *clock_mode, const std::vector<Length> &lengths,
                                 uint32_t seed);
} // namespace bench
