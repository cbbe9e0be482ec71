// SPDX-License-Identifier: MIT
// cli: trace and calibration -> report, with progress and Ctrl-C.
#pragma once

#include <optional>
#include <string>

#include "analyse/analyse.hpp"

namespace nsdump
{
// None if the path is empty.
std::optional<CalibrationFile> calibration_of(const std::string &path);

// Throws TraceError.  Ctrl-C stops reading early; the report then says so.
StatsReport analyse_with_progress(TraceFile &trace, const std::string &calibration_path,
                                  bool keeps_histograms, bool is_quiet);
} // namespace nsdump
