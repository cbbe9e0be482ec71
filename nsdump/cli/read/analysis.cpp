// SPDX-License-Identifier: MIT
// cli: trace and calibration -> report.
#include "cli/read/analysis.hpp"

#include "common/command/signals.h"
#include "common/command/status_line.hpp"

namespace nsdump
{
std::optional<CalibrationFile> calibration_of(const std::string &path)
{
    if (path.empty())
        return std::nullopt;
    return read_calibration(path);
}

StatsReport analyse_with_progress(TraceFile &trace, const AnalysisChoices &choices)
{
    const auto calibration = calibration_of(choices.calibration);
    command::ReadProgress progress(!choices.is_quiet);
    AnalyseOptions options;
    options.calibration = calibration ? &*calibration : nullptr;
    options.keeps_histograms = choices.keeps_histograms;
    options.use_thinning = choices.use_thinning;
    options.explains = choices.explains;
    options.plan = plan_of(choices.range, trace);
    if (choices.threads > 0)
        options.threads = choices.threads;
    options.progress = [&](uint64_t done_bytes, uint64_t all_bytes) {
        progress.show(done_bytes, all_bytes);
        return !command_was_interrupted();
    };
    return analyse_trace(trace, options);
}
} // namespace nsdump
