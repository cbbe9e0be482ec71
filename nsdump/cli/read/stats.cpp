// SPDX-License-Identifier: MIT
// nsdump stats: trace -> what every slice costs.
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/read/analysis.hpp"
#include "cli/read/finish.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "export/exporter.hpp"

namespace nsdump
{
namespace
{
struct Options {
    std::string trace;
    std::string calibration;
    std::string format = "text";
    std::string output;
    bool is_quiet = false;
    bool has_no_thinning = false;
    unsigned threads = 0;
};

int run(const Options &options)
{
    check_trace_name(options.trace);
    TraceFile trace(options.trace);
    command::Output output(options.output, {options.trace, options.calibration});
    const StatsReport report = analyse_with_progress(
        trace, {options.calibration, options.format == "json", options.is_quiet,
                !options.has_no_thinning, false, options.threads});
    output.text() = options.format == "json"  ? stats_json(report)
                    : options.format == "csv" ? stats_csv(report)
                                              : stats_text(report);
    output.finish();
    for (const std::string &warning : report.warnings)
        if (options.format == "csv") // the other formats include them
            tell_warning(report.path, warning);
    if (report.is_interrupted)
        return kExitInterrupted;
    return report.has_findings() ? kExitFindings : kExitOk;
}

constexpr const char *kExamples = R"(
  nsdump stats trace.nsl                                  what every slice costs
  nsdump stats trace.nsl --calibration calibration.json   with the figures of nscalibrate
  nsdump stats trace.nsl --json | jq '.slices[0]'         for other programs
)";

constexpr const char *kFigures = R"(Figures:
  raw, net    trimmed means: without up to 5 % of the slices at either end, such as preempted ones
  inner       what a slice reads in addition to its work; negative if its two clock reads overlap
              with the work (mode fast): net then exceeds raw
  p50, p99    percentiles of net; "-": too few slices to determine it

)";

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    add_trace(arguments, options->trace);
    arguments
        .add("--calibration", options->calibration,
             "calibration.json of nscalibrate to use instead of the trace's own constants")
        .kind("FILE")
        .check(command::is_given);
    arguments.add_flag("--no-thinning", options->has_no_thinning,
                       "net values by calibration only, also if probes were switched at random");
    arguments
        .add("--threads", options->threads,
             "at most so many threads read CPUs at the same time; default: one for each CPU here")
        .kind("N")
        .check(is_positive);
    arguments.add_format(options->format, {"text", "json", "csv"});
    add_output(arguments, options->output);
    add_quiet(arguments, options->is_quiet);
    arguments.footer(kFigures + help_footer(kExamples));
    return [options] { return run(*options); };
}
} // namespace

const Command kStats = {"stats", "Show what every slice costs: raw, net, percentiles, per packet",
                        add};
} // namespace nsdump
