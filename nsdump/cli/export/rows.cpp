// SPDX-License-Identifier: MIT
// cli: trace -> CSV or JSON.
#include "analyse/event_selection.hpp"
#include "cli/commands.hpp"
#include "cli/export/formats.hpp"
#include "cli/export/slice_pass.hpp"
#include "cli/read/analysis.hpp"
#include "cli/read/selection.hpp"
#include "export/exporter.hpp"

namespace nsdump
{
namespace
{
RowFormat row_format(const ExportOptions &options)
{
    return options.format == "json" ? RowFormat::json : RowFormat::csv;
}

// Sink of the pairer that writes a line for each slice.
class SliceWriter
{
public:
    SliceWriter(SliceRows &rows, command::Output &output) : rows_(rows), output_(output) {}

    void slice(const Slice &slice)
    {
        rows_.row(slice, output_.text());
        output_.flush_when_full();
    }
    void unit(const Unit &) {}
    void mark(NameId, uint64_t) {}

private:
    SliceRows &rows_;
    command::Output &output_;
};

int export_events(const ExportOptions &options)
{
    TraceFile trace(options.trace);
    check_slice(trace, options.selection.slice);
    command::Output output(options.output, {options.trace, options.calibration});
    EventRows rows(row_format(options), trace.names());
    rows.header(output.text());
    EventSelection selection(trace.names(), options.selection.unit, options.selection.slice);
    uint64_t written = 0;
    const auto write = [&](const Run &run) {
        for (const Event &event : run.events) {
            if (!selection.see(run, event).is_selected || run.is_lead_in)
                continue;
            if (written >= options.limit)
                break;
            ++written;
            rows.row(event, output.text());
        }
        output.flush_when_full();
        return written < options.limit;
    };
    return for_each_run(options, trace, Order::kTime, write, [&](bool) { end_output(output); });
}

int export_slices(const ExportOptions &options)
{
    const auto calibration = calibration_of(options.calibration);
    TraceFile trace(options.trace);
    check_slice(trace, options.selection.slice);
    command::Output output(options.output, {options.trace, options.calibration});
    const Correction correction(trace, calibration ? &*calibration : nullptr);
    SliceRows rows(row_format(options), trace.names(), trace.cpus(), correction,
                   {trace.counter_names(), trace.kernel_counter_names()});
    rows.header(output.text());
    SliceWriter writer(rows, output);
    return for_each_slice(options, trace, writer, [&] { end_output(output); });
}

int export_stats(const ExportOptions &options)
{
    TraceFile trace(options.trace);
    check_slice(trace, options.selection.slice);
    command::Output output(options.output, {options.trace, options.calibration});
    StatsReport report =
        analyse_with_progress(trace, {options.calibration, row_format(options) == RowFormat::json,
                                      options.is_quiet, true, false, options.selection.range});
    if (!options.selection.slice.empty())
        std::erase_if(report.slices, [&](const SliceReport &slice) {
            return slice.name != options.selection.slice;
        });
    output.text() = row_format(options) == RowFormat::json ? stats_json(report) : stats_csv(report);
    const bool is_interrupted = end_output(output);
    for (const std::string &warning : report.warnings)
        tell_warning(report.path, warning);
    if (is_interrupted)
        return kExitInterrupted;
    return report.has_findings() ? kExitFindings : kExitOk;
}

int write_rows(const ExportOptions &options)
{
    if (options.what == "events")
        return export_events(options);
    if (options.what == "slices")
        return export_slices(options);
    return export_stats(options);
}
} // namespace

const ExportFormat kCsv = {
    "csv", "a line for each event, slice, or figure", {"stats", "events", "slices"}, write_rows};
const ExportFormat kJson = {"json",
                            "the report as one object; events and slices as one object a line",
                            {"stats", "events", "slices"},
                            write_rows};
} // namespace nsdump
