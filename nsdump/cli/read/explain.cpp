// SPDX-License-Identifier: MIT
// nsdump explain: trace and slice -> how the slice's net value is computed.
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "analyse/thinning/combine.hpp"
#include "cli/commands.hpp"
#include "cli/read/analysis.hpp"
#include "cli/read/finish.hpp"
#include "cli/read/selection.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "export/escape.hpp"
#include "export/exporter.hpp"

namespace nsdump
{
namespace
{
struct Options {
    std::string trace;
    std::string slice;
    std::string calibration;
    std::string format = "text";
    std::string output;
    bool is_quiet = false;
    bool has_no_thinning = false;
    TimeRange range;
};

// None if the user interrupted before it was found.
const SliceReport *slice_of(const StatsReport &report, const std::string &name)
{
    std::vector<std::string> others;
    for (const SliceReport &slice : report.slices) {
        if (!slice.thinning)
            continue;
        if (slice.name == name)
            return &slice;
        others.push_back(printable(slice.name));
    }
    if (report.is_interrupted)
        return nullptr;
    throw command::UsageError(fmt::format("{}: no program slice \"{}\" with times; available: {}",
                                          report.path, printable(name), listed(others)));
}

int run(const Options &options)
{
    check_trace_name(options.trace);
    TraceFile trace(options.trace);
    command::Output output(options.output, {options.trace, options.calibration});
    const StatsReport report =
        analyse_with_progress(trace, {options.calibration, false, options.is_quiet,
                                      !options.has_no_thinning, true, options.range});
    if (const SliceReport *const slice = slice_of(report, options.slice))
        output.text() = options.format == "json" ? explain_json(*slice) : explain_text(*slice);
    const bool is_interrupted = end_output(output);
    // The text above says it of this slice.
    for (const std::string &warning : report.warnings)
        if (!warning.starts_with(kContradiction))
            tell_warning(report.path, warning);
    if (is_interrupted)
        return kExitInterrupted;
    return report.has_findings() ? kExitFindings : kExitOk;
}

constexpr const char *kExamples = R"(
  nsdump explain trace.nsl lookup                 what was subtracted from slice lookup, and why
  nsdump explain trace.nsl lookup --json | jq .cells
)";

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    add_trace(arguments, options->trace);
    arguments.add("--slice,slice", options->slice, "name of the slice")
        .kind("NAME")
        .check(command::is_given)
        .required();
    arguments
        .add("--calibration", options->calibration,
             "calibration.json of nscalibrate to use instead of the trace's own constants")
        .kind("FILE")
        .check(command::is_given);
    arguments.add_flag("--no-thinning", options->has_no_thinning,
                       "net values by calibration only, also if probes were switched at random");
    add_time_range(arguments, options->range);
    arguments.add_format(options->format, {"text", "json"});
    add_output(arguments, options->output);
    add_quiet(arguments, options->is_quiet);
    arguments.footer(help_footer(kExamples));
    return [options] { return run(*options); };
}
} // namespace

const Command kExplain = {"explain", "Show how the net value of a slice is computed", add};
} // namespace nsdump
