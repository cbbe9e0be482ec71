// SPDX-License-Identifier: MIT
// nsdump export: trace -> a format for other programs.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/export/formats.hpp"
#include "cli/export/partition.hpp"
#include "common/command/arguments.hpp"

namespace nsdump
{
namespace
{
constexpr const char *kExamples = R"(
  nsdump export trace.nsl -o stats.csv                statistics of every slice as CSV
  nsdump export trace.nsl --what slices -o s.csv      one line per slice
  nsdump export trace.nsl --what events --json -c 5   the first five events as JSON
  nsdump export trace.nsl --from 1s --to 2s           statistics of one second
  nsdump export trace.nsl --format flamegraph -o f.svg  stacks by net time, for a browser
  nsdump export trace.nsl --format perfetto -o t.pftrace   a timeline for ui.perfetto.dev
  nsdump export trace.nsl --format parquet -o tables  slices, units and losses for DuckDB, pandas
)";

std::vector<std::string> format_names()
{
    std::vector<std::string> names;
    for (const ExportFormat *format : all_formats())
        names.emplace_back(format->name);
    return names;
}

std::string format_lines()
{
    std::string lines = "Formats:\n";
    for (const ExportFormat *format : all_formats()) {
        std::string name = format->name;
        name.resize(12, ' ');
        lines += "  " + name + " " + format->summary + "\n";
    }
    return lines;
}

int run(const ExportOptions &options)
{
    check_trace_name(options.trace);
    return format_of(options.format).write(options);
}

// Options that only some formats have.
struct FormatArguments {
    command::Argument weight, partition, compression;
};

FormatArguments add_format_arguments(command::ArgumentSet &arguments, ExportOptions &options)
{
    const command::Argument weight =
        arguments
            .add("--weight", options.weight,
                 "value of a stack: net-ns (default), net-ticks, raw-ns, or net of a counter")
            .kind("VALUE")
            .check(command::is_given);
    const command::Argument partition =
        arguments
            .add("--partition", options.partition,
                 "parquet: folders by CPU, by time, or both: cpu,time=1s")
            .kind("cpu,time=DURATION")
            .check(is_partition);
    const command::Argument compression =
        arguments.add("--compression", options.compression, "parquet: default: none")
            .one_of({"none", "lz4", "snappy", "zstd"});
    return {weight, partition, compression};
}

// What the format cannot take.
void refuse_for(const ExportFormat &format, const ExportOptions &options,
                const std::vector<command::Argument> &selecting)
{
    for (const NotTaken &not_taken : format.not_taken)
        for (const command::Argument &argument : selecting)
            if (argument.name() == not_taken.option)
                command::refuse({argument}, std::string("cannot be combined with --format ") +
                                                format.name + " (" + not_taken.remedy + ")");
    if (format.writes_folder && (options.output.empty() || options.output == "-"))
        throw command::WrongUse(std::string("--format ") + format.name +
                                " writes a folder (specify it with -o FOLDER)");
}

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<ExportOptions>();
    add_trace(arguments, options->trace);
    const command::Argument what =
        arguments.add("--what", options->what, "what to export; default: stats")
            .one_of({"events", "slices", "stacks", "stats"});
    arguments.add_format(options->format, format_names());
    const command::Argument calibration =
        arguments
            .add("--calibration", options->calibration,
                 "calibration.json of nscalibrate to use instead of the trace's own constants")
            .kind("FILE")
            .check(command::is_given);
    const command::Argument unit = arguments
                                       .add("--unit", options->selection.unit,
                                            "only events or slices of the unit with this number")
                                       .check(is_count);
    const command::Argument slice = arguments
                                        .add("--slice", options->selection.slice,
                                             "only events, slices or statistics with this name")
                                        .kind("NAME")
                                        .check(command::is_given);
    std::vector<command::Argument> selecting = add_time_range(arguments, options->selection.range);
    const command::Argument limit =
        arguments.add("-c,--count", options->limit, "maximum number of events or slices to write")
            .kind("COUNT")
            .check(is_count);
    selecting.insert(selecting.end(), {unit, slice, limit});
    const FormatArguments own = add_format_arguments(arguments, *options);
    add_output(arguments, options->output);
    add_quiet(arguments, options->is_quiet);
    arguments.footer(format_lines() + "\n" + help_footer(kExamples));
    arguments.at_end([options, what, calibration, unit, limit, own, selecting] {
        const ExportFormat &format = format_of(options->format);
        if (!what.was_given())
            options->what = format.what.front();
        else if (std::ranges::find(format.what, options->what) == format.what.end())
            command::refuse({what},
                            "cannot be " + options->what + " with --format " + options->format);
        if (options->format != "parquet")
            command::refuse({own.partition, own.compression}, "requires --format parquet");
        if (options->what == "stats")
            command::refuse({unit, limit}, "cannot be combined with --what stats");
        if (options->what == "stacks")
            command::refuse({limit}, "cannot be combined with stacks, which are sums");
        else
            command::refuse({own.weight}, "requires --format folded, speedscope or flamegraph");
        if (options->what == "events") {
            command::refuse({calibration}, "cannot be combined with --what events, which are raw");
            command::refuse({own.partition}, "cannot be combined with --what events");
        }
        refuse_for(format, *options, selecting);
    });
    return [options] { return run(*options); };
}
} // namespace

const Command kExport = {"export", "Export events, slices or statistics in other programs' formats",
                         add};
} // namespace nsdump
