// SPDX-License-Identifier: MIT
// warnings: properties of the machine and the run -> warnings with remedies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "environment.hpp"

namespace calibrate
{
// Observations during the run.
struct RunFacts {
    double seconds = 0;
    double hz = 0;
    double step_ticks = 0;
    std::optional<double> steal_seconds;
    uint64_t preemptions = 0;   // involuntary context switches
    double shared_share = 0;    // of the looks at the core, in all passes
    double frequency_range = 0; // of the core, relative; the widest of all passes, or between them
    double gap_share = 0;       // of the watched time
    std::optional<double> core_hz;
    unsigned repeated_passes = 0;  // because they were disturbed
    unsigned disturbed_passes = 0; // of those that are kept
    std::string disturbances;      // comma-separated; why passes were repeated or are disturbed
    double worst_spread = 0;       // of all figures; see Estimate::spread
    std::string worst_figure;
    unsigned wide_figures = 0; // figures whose spread is above kWideSpread
    bool has_pmu_counters = false;
    bool has_step_counter = false;
    bool is_counting_exact = true; // stepped counts were the same in every pass
    bool has_loss_equation = true; // issued = drained + lost in every ring case
    unsigned dropped_passes = 0;   // ring passes that the drain could not follow
};

inline constexpr double kWideSpread = 0.05;
inline constexpr double kCoarseStepTicks = 8;

struct Warning {
    std::string text;
    bool spoils_result = false; // the figures must not be used
};

// On the clock, the machine and what others did on it.
std::vector<Warning> surroundings_warnings(const Environment &environment, const RunFacts &facts);
// These, and on counters and rings.
std::vector<Warning> warnings_for(const Environment &environment, const RunFacts &facts);
} // namespace calibrate
