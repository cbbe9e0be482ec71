// SPDX-License-Identifier: MIT
// analyse: calibration.json (schema netslice-calibration-1) <-> struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nsdump
{
inline constexpr const char *kCalibrationSchema = "netslice-calibration-1";

struct CalibrationContext {
    std::string version; // of the toolkit that measured: probe costs may differ between versions
    std::string cpu;
    std::string arch;
    std::string kernel;
    std::string governor;
    std::string virtualised;
    std::string compiler;
    std::string date;
    uint32_t cpus = 0;
};

struct CalibrationClock {
    std::string source;
    double hz = 0;
    double step_ticks = 0;
    bool is_invariant = false;
};

// Cost of one way to read the clock.
struct ClockReadCost {
    std::string name;
    double ticks = 0;
    double ns = 0;
    double ci95_ns = 0;
};

struct CounterCost {
    std::string counter;
    double inner = 0;
    double inner_ci95 = 0;
    double outer = 0;
    double outer_ci95 = 0;
};

// Cost of one macro (START+STOP, MARK, INIT, EXIT) under one setting of the session.
struct ProbeCost {
    std::string macro;
    std::string mode;     // as INFO clock.mode
    std::string ring;     // as INFO ring.kind
    std::string counters; // as INFO counters.source
    double inner_ticks = 0;
    double inner_ci95 = 0;
    double outer_ticks = 0;
    double outer_ci95 = 0;
    std::optional<double> inner_instructions;
    std::optional<double> outer_instructions;
    uint32_t batches = 0;
    uint32_t trimmed = 0;
    std::vector<CounterCost> counter_costs = {};   // per counter; nscalibrate adds them to the JSON
    std::optional<double> inner_hidden_ticks = {}; // extra cost without work to overlap with
    std::optional<double> outer_hidden_ticks = {};
    // Likewise, of a pair whose STOP overtakes as much work as it can, and whose START none.
    std::optional<double> inner_overtaking_ticks = {};
    std::optional<double> outer_overtaking_ticks = {};
};

struct CalibrationFile {
    CalibrationContext context;
    CalibrationClock clock;
    std::vector<ClockReadCost> clock_reads;
    std::vector<ProbeCost> probes;
    std::vector<std::string> warnings;
    bool is_trusted = true; // false: nscalibrate marked the figures as unusable
};

// Work may hide a probe completely, and measurements are noisy, but neither explains a negative
// cost of more than a quarter of the probe's cost without work.
bool is_possible_cost(double outer, double half_width, double hidden);

// Throws TraceError, which names file and place, if the text is not a calibration.
CalibrationFile parse_calibration(const std::string &text, const std::string &name);
CalibrationFile read_calibration(const std::string &path);
std::string to_json(const CalibrationFile &calibration);
} // namespace nsdump
