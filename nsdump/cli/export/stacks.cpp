// SPDX-License-Identifier: MIT
// cli: trace -> stacks with weights, as folded lines, a speedscope profile or a flame graph.
#include <filesystem>

#include <fmt/format.h>

#include "cli/export/formats.hpp"
#include "cli/export/slice_pass.hpp"
#include "cli/read/analysis.hpp"
#include "cli/read/selection.hpp"
#include "common/command/counted.hpp"
#include "common/command/signals.h"
#include "common/command/tell.hpp"
#include "export/stacks/stack_collector.hpp"
#include "export/stacks/stack_writers.hpp"

namespace nsdump
{
namespace
{
using command::counted;

// Empty if every slice is in a stack.
std::string left_out_words(const LeftOutSlices &left_out)
{
    std::string words;
    const auto add = [&](uint64_t count, const char *why) {
        if (count > 0)
            words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, why);
    };
    add(left_out.migrated, "migrated");
    add(left_out.spans_loss, "spans-loss");
    add(left_out.crossed, "crossed");
    add(left_out.without_value, "without this value (no calibration or no such counter)");
    return words;
}

void tell_stacks(const TraceFile &trace, const StackCollector &collector, const StackFrames &frames,
                 const std::string &unit)
{
    const std::string &name = trace.source().name();
    const LeftOutSlices &left_out = collector.left_out();
    if (left_out.sum() > 0)
        tell_warning(name, fmt::format("{} in no stack: {}",
                                       counted(left_out.sum(), "slice is", "slices are"),
                                       left_out_words(left_out)));
    if (left_out.counted_crossed > 0)
        tell_warning(
            name, fmt::format("{} others: of two that cross, the one that ends first is "
                              "counted",
                              counted(left_out.counted_crossed, "slice crosses", "slices cross")));
    if (frames.negative > 0)
        tell_warning(name, fmt::format("{} below 0 (less than the noise), together {:.0f} {}, "
                                       "written as 0",
                                       counted(frames.negative, "stack is", "stacks are"),
                                       frames.negative_sum, unit));
    if (frames.other_slices > 0)
        tell_warning(name, fmt::format("{} of further stacks in the frame {}: a graph has at most "
                                       "{} stacks",
                                       counted(frames.other_slices, "slice is", "slices are"),
                                       kOtherFrame, StackTree::kMaxStacks));
}

void write_format(const ExportOptions &options, const StackFrames &frames, const NameTable &names,
                  const StackTitles &titles, command::Output &output)
{
    const auto flush = [&] { output.flush_when_full(); };
    if (options.format == kFolded.name) {
        write_folded(frames, names, output.text(), flush);
    } else if (options.format == kSpeedscope.name) {
        write_speedscope(frames, names, titles, output.text(), flush);
    } else {
        const uint64_t omitted = write_flame_graph(frames, names, titles, output.text(), flush);
        if (omitted > 0)
            tell_warning(options.trace, fmt::format("not drawn: {} of less than 0.01 %",
                                                    counted(omitted, "frame")));
    }
}

int export_stacks(const ExportOptions &options)
{
    const auto calibration = calibration_of(options.calibration);
    TraceFile trace(options.trace);
    check_slice(trace, options.selection.slice);
    std::string why;
    const auto weight = stack_weight(trace, options.weight, why);
    if (!weight)
        throw command::UsageError(fmt::format("--weight {}: {}", options.weight, why));
    command::Output output(options.output, {options.trace, options.calibration});
    const Correction correction(trace, calibration ? &*calibration : nullptr);
    const uint64_t from_ticks = ticks_of(options.selection.range, trace).from_ticks;
    StackCollector collector(trace.names(), correction, *weight,
                             {options.selection.unit, options.selection.slice, from_ticks});
    StackSink programs(collector, false), kernel(collector, true);
    UserAndKernelPairs sides(trace, programs, kernel);
    programs.set_pairs(sides.programs());
    kernel.set_pairs(sides.kernel());
    const auto never = [] { return false; };
    const auto nothing = [](const Run &) {};
    ExportOptions reading = options;
    reading.selection.slice.clear(); // what is inside may be where the name is not
    return pair_runs(reading, trace, sides, nothing, never, [&] {
        const bool is_graph = options.format == kFlameGraph.name;
        const StackFrames frames = frames_of(collector.tree(), trace.names(),
                                             is_graph ? FrameOrder::total : FrameOrder::name);
        const std::string words = left_out_words(collector.left_out());
        const StackTitles titles = {
            std::filesystem::path(trace.source().name()).filename().string(), weight->words(trace),
            weight->unit(trace), weight->is_time(), words.empty() ? "" : "not in it: " + words};
        if (!command_was_interrupted()) // sums over a part would look like those of the whole
            write_format(options, frames, trace.names(), titles, output);
        if (end_output(output))
            return uint64_t{0};
        tell_stacks(trace, collector, frames, titles.unit);
        return collector.unmatched_stops();
    });
}
} // namespace

const ExportFormat kFolded = {
    "folded", "a line for each stack with its weight", {"stacks"}, export_stacks};
const ExportFormat kSpeedscope = {
    "speedscope", "stacks as a profile for speedscope.app", {"stacks"}, export_stacks};
const ExportFormat kFlameGraph = {
    "flamegraph", "stacks as an SVG that a browser searches and zooms", {"stacks"}, export_stacks};
} // namespace nsdump
