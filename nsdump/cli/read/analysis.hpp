// SPDX-License-Identifier: MIT
// cli: trace and calibration -> report, with progress and Ctrl-C.
#pragma once

#include <optional>
#include <string>

#include "analyse/analyse.hpp"
#include "cli/read/time_range.hpp"

namespace nsdump
{
// None if the path is empty.
std::optional<CalibrationFile> calibration_of(const std::string &path);

struct AnalysisChoices {
    std::string calibration; // path; empty: the trace's own
    bool keeps_histograms = false;
    bool is_quiet = false;
    bool use_thinning = true;
    bool explains = false;
    TimeRange range = {};
    unsigned threads = 0; // 0: one for each CPU
};

// Throws TraceError.  Ctrl-C stops reading early; the report then says so.
StatsReport analyse_with_progress(TraceFile &trace, const AnalysisChoices &choices);
} // namespace nsdump
