// SPDX-License-Identifier: MIT
// nsdump stats: trace -> what every slice costs.
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/read/analysis.hpp"
#include "cli/read/finish.hpp"
#include "common/command/arguments.hpp"
#include "common/command/colour.hpp"
#include "common/command/output.hpp"
#include "common/command/terminal.hpp"
#include "export/exporter.hpp"
#include "export/summary.hpp"

namespace nsdump
{
namespace
{
struct Options {
    std::string trace;
    std::string calibration;
    std::string format = "text";
    std::string output;
    std::string colour = "auto";
    bool is_quiet = false;
    bool shows_all = false;
    bool has_no_thinning = false;
    TimeRange range;
    unsigned threads = 0;
};

std::string text_of(const StatsReport &report, const Options &options)
{
    if (options.format == "json")
        return stats_json(report);
    if (options.format == "csv")
        return stats_csv(report);
    if (options.shows_all)
        return stats_text(report);
    const bool is_file = !options.output.empty() && options.output != "-";
    const int fd = is_file ? -1 : STDOUT_FILENO;
    const command::TerminalSize size = command::terminal_size(fd);
    return stats_summary(report,
                         {size.columns, size.rows, command::has_colours(fd, options.colour)});
}

int run(const Options &options)
{
    check_trace_name(options.trace);
    TraceFile trace(options.trace);
    command::Output output(options.output, {options.trace, options.calibration});
    const StatsReport report = analyse_with_progress(
        trace, {options.calibration, options.format == "json", options.is_quiet,
                !options.has_no_thinning, false, options.range, options.threads});
    output.text() = text_of(report, options);
    const bool is_interrupted = end_output(output);
    for (const std::string &warning : report.warnings)
        if (options.format == "csv") // the other formats include them
            tell_warning(report.path, warning);
    if (is_interrupted)
        return kExitInterrupted;
    return report.has_findings() ? kExitFindings : kExitOk;
}

constexpr const char *kExamples = R"(
  nsdump stats trace.nsl                                  what takes the most time, on a screen
  nsdump stats trace.nsl --all                            everything
  nsdump stats trace.nsl --from 1s --to 2s                one second of it
  zcat trace.nsl.gz | nsdump stats -
  nsdump stats trace.nsl --calibration calibration.json   with the figures of nscalibrate
  nsdump stats trace.nsl --json | jq '.slices[0]'         for other programs
)";

constexpr const char *kFigures = R"(Figures:
  raw, net    trimmed means: without up to 5 % of the slices at either end, such as preempted ones
  inner       what a slice reads in addition to its work; negative if its two clock reads overlap
              with the work (mode fast): net then exceeds raw
  share       of the time of all slices, without the slices inside (self)
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
    add_time_range(arguments, options->range);
    const command::Argument all = arguments.add_flag(
        "--all", options->shows_all, "all slices, counters, constants and warnings, not a screen");
    const command::Argument colour =
        arguments
            .add("--colour", options->colour,
                 "auto: if it goes to a terminal and NO_COLOR is not set; always; never")
            .one_of({"auto", "always", "never"});
    arguments
        .add("--threads", options->threads,
             "at most this many threads read CPUs at the same time; default: one for each usable "
             "CPU")
        .kind("N")
        .check(is_positive);
    arguments.add_format(options->format, {"text", "json", "csv"});
    add_output(arguments, options->output);
    add_quiet(arguments, options->is_quiet);
    arguments.footer(kFigures + help_footer(kExamples));
    arguments.at_end([options, all, colour] {
        if (options->format != "text")
            command::refuse({all, colour}, "requires --format text");
        if (options->shows_all)
            command::refuse({colour}, "cannot be combined with --all, which has none");
    });
    return [options] { return run(*options); };
}
} // namespace

const Command kStats = {"stats", "Show what every slice costs: raw, net, percentiles, per packet",
                        add};
} // namespace nsdump
