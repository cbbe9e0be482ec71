// SPDX-License-Identifier: MIT
// analyse: a trace file -> its report, in a single call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "analyse/report.hpp"
#include "decode/seek/read_plan.hpp"

namespace nsdump
{
// CPUs on which the calling thread may run.
unsigned usable_cpus();

struct AnalyseOptions {
    const CalibrationFile *calibration = nullptr; // instead of the trace's own
    // Called from time to time with the bytes done and the total bytes; returning false stops
    // early.
    std::function<bool(uint64_t, uint64_t)> progress;
    bool keeps_histograms = true;     // in the report; takes much memory for many names
    bool use_thinning = true;         // if the trace has epochs
    std::optional<ReadPlan> plan;     // what to read; none: everything
    unsigned threads = usable_cpus(); // at most; 0 as 1
    bool explains = false;            // SliceReport::thinning of every slice, also without epochs
};

// Throws TraceError if the file cannot be read at all; damage is listed in the report.
StatsReport analyse_trace(const std::string &path, const AnalyseOptions &options = {});
StatsReport analyse_trace(TraceFile &trace, const AnalyseOptions &options = {});
} // namespace nsdump
