// SPDX-License-Identifier: MIT
// analyse: calibrations at both ends of a session -> whether the constants moved in between.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyse/correct/calibration_row.hpp"

namespace nsdump
{
// Every machine's core frequency varies by up to this share of a probe's cost alone.  The interval
// covers it, so there is no warning.
inline constexpr double kDriftShare = 0.02;
// A time that moved by more than this is drift however wide the intervals are: a calibration's
// interval is only so wide if the constant moved while it was measured.
inline constexpr double kLargeDriftShare = 0.1;

struct CpuDrift {
    uint32_t cpu = 0;
    double start = 0;
    double end = 0;
};

// How a constant moved from the session's start to its end, averaged over the CPUs.
struct Drift {
    bool is_kernel = false; // of the kernel's probes
    unsigned probe = kPair;
    unsigned field = 0;
    bool is_inner = false;
    double start = 0;
    double end = 0;
    // More than kDriftShare and not explained by the two intervals, or a time that moved on any
    // CPU by more than kLargeDriftShare.
    bool is_significant = false;
    // The CPU on which it moved furthest, if only its own move is significant.
    std::optional<CpuDrift> on_cpu = {};
};

// Only CPUs that were calibrated at both ends: otherwise there is nothing to compare with.
std::vector<Drift> drift_of(const std::vector<CalibrationRow> &start,
                            const std::vector<CalibrationRow> &end, bool is_kernel);
} // namespace nsdump
