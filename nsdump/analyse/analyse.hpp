// SPDX-License-Identifier: MIT
// analyse: a trace file -> its report; the one call for programs that only want the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "analyse/report.hpp"

namespace nsdump
{
struct AnalyseOptions {
    const CalibrationFile *calibration = nullptr; // instead of the trace's own
    // Called now and then with bytes done and bytes in all; false stops early.
    std::function<bool(std::uint64_t, std::uint64_t)> progress;
    bool keeps_histograms = true; // in the report: much memory for many names
};

// Throws TraceError when the file cannot be read at all; damage is told in the report.
StatsReport analyse_trace(const std::string &path, const AnalyseOptions &options = {});
StatsReport analyse_trace(TraceFile &trace, const AnalyseOptions &options = {});
} // namespace nsdump
