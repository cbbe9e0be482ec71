// SPDX-License-Identifier: MIT
// cli: trace -> a timeline for Perfetto's viewer, or in Chrome's JSON.
#include <unistd.h>

#include "analyse/event_selection.hpp"
#include "cli/commands.hpp"
#include "cli/export/formats.hpp"
#include "cli/export/slice_pass.hpp"
#include "cli/read/analysis.hpp"
#include "cli/read/selection.hpp"
#include "export/timeline/timeline.hpp"
#include "export/timeline/writers.hpp"

namespace nsdump
{
namespace
{
// Passes on what the options select.
class TimelineSink
{
public:
    TimelineSink(const ExportOptions &options, TraceFile &trace, Timeline &timeline,
                 command::Output &output)
        : options_(options), timeline_(timeline), output_(output),
          selection_(trace.names(), options.selection.unit, options.selection.slice)
    {
    }

    void run(const Run &run)
    {
        timeline_.run(run);
        for (const Event &event : run.events)
            if (selection_.see(run, event).is_selected &&
                !run.is_lead_in) // units may begin in the lead-in
                timeline_.sample(run, event);
        output_.flush_when_full();
    }
    void slice(const Slice &slice)
    {
        ++slices_;
        timeline_.slice(slice);
        output_.flush_when_full();
    }
    void unit(const Unit &) {}
    void mark(NameId, uint64_t) {} // see Timeline::sample(), which knows when it was
    void finish()
    {
        timeline_.finish(slices_ < options_.limit && !command_was_interrupted());
        end_output(output_);
    }

private:
    const ExportOptions &options_;
    Timeline &timeline_;
    command::Output &output_;
    EventSelection selection_;
    uint64_t slices_ = 0;
};

int write_timeline(const ExportOptions &options, TimelineWriter &writer)
{
    const auto calibration = calibration_of(options.calibration);
    TraceFile trace(options.trace);
    check_slice(trace, options.selection.slice);
    command::Output output(options.output, {options.trace, options.calibration});
    const Correction correction(trace, calibration ? &*calibration : nullptr);
    const auto &[range, unit, name] = options.selection;
    const bool is_part = range.is_given() || unit || !name.empty();
    Timeline timeline(trace, correction, writer, output.text(), is_part);
    timeline.head();
    TimelineSink sink(options, trace, timeline, output);
    const int code = for_each_slice(options, trace, sink, [&] { sink.finish(); });
    for (const std::string &omission : timeline.omissions())
        tell_warning(trace.source().name(), omission);
    return code;
}

int write_perfetto(const ExportOptions &options)
{
    const bool is_to_standard_output = options.output.empty() || options.output == "-";
    if (is_to_standard_output && isatty(STDOUT_FILENO))
        throw command::UsageError("--format perfetto is binary, and standard output is a terminal "
                                  "(give a file with -o)");
    return write_timeline(options, *perfetto_writer());
}

int write_chrome(const ExportOptions &options)
{
    return write_timeline(options, *chrome_writer());
}
} // namespace

const ExportFormat kPerfetto = {
    "perfetto", "slices as a timeline for Perfetto's viewer", {"slices"}, write_perfetto};
const ExportFormat kChrome = {
    "chrome", "the same as Chrome's JSON, for other viewers", {"slices"}, write_chrome};
} // namespace nsdump
