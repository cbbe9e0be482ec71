// SPDX-License-Identifier: MIT
// nsdump export: trace -> CSV or JSON for other programs.
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "analyse/pair/user_and_kernel.hpp"
#include "cli/commands.hpp"
#include "cli/read/analysis.hpp"
#include "cli/read/finish.hpp"
#include "cli/read/selection.hpp"
#include "cli/read/unit_filter.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/status_line.hpp"
#include "decode/merge.hpp"
#include "export/exporter.hpp"

namespace nsdump
{
namespace
{
constexpr uint64_t kProgressRuns = 1 << 12;

struct Options {
    std::string trace;
    std::string what = "stats";
    std::string format = "csv";
    std::string calibration;
    std::string output;
    std::optional<uint64_t> unit;
    std::string slice;
    uint64_t limit = std::numeric_limits<uint64_t>::max();
    bool is_quiet = false;

    RowFormat row_format() const { return format == "json" ? RowFormat::json : RowFormat::csv; }
};

// Sink of the pairer that writes a line for each selected slice.
class SliceWriter
{
public:
    SliceWriter(const Options &options, TraceFile &trace, SliceRows &rows, command::Output &output)
        : options_(options), trace_(trace), rows_(rows), output_(output)
    {
    }
    bool is_done() const { return written_ >= options_.limit; }

    void slice(const Slice &slice)
    {
        if (is_done() || (options_.unit && (!slice.unit || slice.unit->number != *options_.unit)) ||
            (!options_.slice.empty() && trace_.names()[slice.name].text != options_.slice))
            return;
        ++written_;
        rows_.row(slice, output_.text());
    }
    void unit(const Unit &) {}
    void mark(NameId, uint64_t) {}

private:
    const Options &options_;
    TraceFile &trace_;
    SliceRows &rows_;
    command::Output &output_;
    uint64_t written_ = 0;
};

// Calls `each` for every run until it returns false or the user interrupts.
template <class Each>
int for_each_run(TraceFile &trace, command::Output &output, bool is_quiet, Each each)
{
    Merger merger(trace);
    {
        command::ReadProgress progress(!is_quiet);
        Run run;
        uint64_t runs = 0;
        while (!command_was_interrupted() && merger.next(run) && each(run)) {
            output.flush_when_full();
            if (++runs % kProgressRuns == 0)
                progress.show(merger.position_bytes(), trace.source().size_bytes());
        }
    }
    output.finish();
    return finish_reading(trace, merger);
}

int export_events(const Options &options)
{
    TraceFile trace(options.trace);
    check_slice(trace, options.slice);
    command::Output output(options.output, {options.trace, options.calibration});
    EventRows rows(options.row_format(), trace.names());
    rows.header(output.text());
    std::optional<UnitFilter> unit;
    if (options.unit)
        unit.emplace(*options.unit);
    uint64_t written = 0;
    return for_each_run(trace, output, options.is_quiet, [&](const Run &run) {
        for (const Event &event : run.events) {
            const NameId name = trace.names().of_slice(event.slice_id);
            const bool is_kernel = run.is_kernel && trace.names()[name].way == 0;
            if ((unit && !unit->contains(event, name, is_kernel)) ||
                (!options.slice.empty() && trace.names()[name].text != options.slice))
                continue;
            if (written >= options.limit)
                break;
            ++written;
            rows.row(event, output.text());
        }
        return written < options.limit;
    });
}

int export_slices(const Options &options)
{
    const auto calibration = calibration_of(options.calibration);
    TraceFile trace(options.trace);
    check_slice(trace, options.slice);
    command::Output output(options.output, {options.trace, options.calibration});
    const Correction correction(trace, calibration ? &*calibration : nullptr);
    SliceRows rows(options.row_format(), trace.names(), trace.cpus(), correction,
                   {trace.counter_names(), trace.kernel_counter_names()});
    rows.header(output.text());
    SliceWriter writer(options, trace, rows, output);
    UserAndKernelPairs sides(trace, writer, writer);
    if (const std::string warning = foreign_threads_warning(trace); !warning.empty())
        tell_warning(trace.source().name(), warning);
    return for_each_run(trace, output, options.is_quiet, [&](const Run &run) {
        sides.consume(run);
        return !writer.is_done();
    });
}

int export_stats(const Options &options)
{
    TraceFile trace(options.trace);
    check_slice(trace, options.slice);
    command::Output output(options.output, {options.trace, options.calibration});
    StatsReport report =
        analyse_with_progress(trace, {options.calibration, options.row_format() == RowFormat::json,
                                      options.is_quiet, true, false});
    if (!options.slice.empty())
        std::erase_if(report.slices,
                      [&](const SliceReport &slice) { return slice.name != options.slice; });
    output.text() =
        options.row_format() == RowFormat::json ? stats_json(report) : stats_csv(report);
    output.finish();
    for (const std::string &warning : report.warnings)
        tell_warning(report.path, warning);
    if (report.is_interrupted)
        return kExitInterrupted;
    return report.has_findings() ? kExitFindings : kExitOk;
}

int run(const Options &options)
{
    check_trace_name(options.trace);
    if (options.what == "events")
        return export_events(options);
    if (options.what == "slices")
        return export_slices(options);
    return export_stats(options);
}

constexpr const char *kExamples = R"(
  nsdump export trace.nsl -o stats.csv                statistics of every slice as CSV
  nsdump export trace.nsl --what slices -o s.csv      one line per slice
  nsdump export trace.nsl --what events --json -c 5   the first five events as JSON
)";

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    add_trace(arguments, options->trace);
    arguments.add("--what", options->what, "what to export")
        .one_of({"events", "slices", "stats"})
        .show_default();
    arguments.add_format(options->format, {"csv", "json"});
    const command::Argument calibration =
        arguments
            .add("--calibration", options->calibration,
                 "calibration.json of nscalibrate to use instead of the trace's own constants")
            .kind("FILE")
            .check(command::is_given);
    const command::Argument unit =
        arguments.add("--unit", options->unit, "only events or slices of the unit with this number")
            .check(is_count);
    arguments.add("--slice", options->slice, "only events, slices or statistics with this name")
        .kind("NAME")
        .check(command::is_given);
    const command::Argument limit =
        arguments.add("-c,--count", options->limit, "maximum number of events or slices to write")
            .kind("COUNT")
            .check(is_count);
    add_output(arguments, options->output);
    add_quiet(arguments, options->is_quiet);
    arguments.footer("JSON of events and slices is one object per line.\n\n" +
                     help_footer(kExamples));
    arguments.at_end([options, calibration, unit, limit] {
        if (options->what == "stats")
            command::refuse({unit, limit}, "requires --what events or --what slices");
        if (options->what == "events")
            command::refuse({calibration}, "cannot be combined with --what events, which are raw");
    });
    return [options] { return run(*options); };
}
} // namespace

const Command kExport = {"export", "Export events, slices or statistics as CSV or JSON", add};
} // namespace nsdump
