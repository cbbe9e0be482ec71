// SPDX-License-Identifier: MIT
// A trace -> its stacks.  An empty slice reads 2 ticks, and a pair inside another adds 3.
#pragma once

#include <map>
#include <sstream>
#include <string>

#include "analyse/pair/user_and_kernel.hpp"
#include "export/stacks/stack_collector.hpp"
#include "export/stacks/stack_writers.hpp"
#include "nsdump_support.hpp"

namespace test_support
{
inline TraceBuilder calibrated_trace(const std::string &counters = "")
{
    TraceBuilder trace;
    trace.info(plain_info(1e9, counters));
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0,
                      {entry(NSLICE_KIND_START, 0, 2, 3), entry(NSLICE_KIND_START, 1, 1, 1)});
    return trace;
}

struct Stacks {
    std::map<std::string, double> weights; // by folded stack
    nsdump::LeftOutSlices left_out;
    nsdump::StackFrames frames;
    std::string folded, speedscope, graph;
    uint64_t omitted = 0;
};

inline Stacks stacks_of(TraceBuilder &builder, const std::string &weight_text = "net-ticks",
                        const nsdump::StackChoice &choice = {},
                        size_t max_stacks = nsdump::StackTree::kMaxStacks)
{
    builder.footer(NSLICE_END_CLOSED, 1'000'000, 1'000'000);
    nsdump::TraceFile trace(source_of(builder.bytes()));
    const nsdump::Correction correction(trace);
    std::string why;
    const auto weight = nsdump::stack_weight(trace, weight_text, why);
    if (!weight)
        throw std::runtime_error(why);
    nsdump::StackCollector collector(trace.names(), correction, *weight, choice, max_stacks);
    nsdump::StackSink programs(collector, false), kernel(collector, true);
    nsdump::UserAndKernelPairs sides(trace, programs, kernel);
    programs.set_pairs(sides.programs());
    kernel.set_pairs(sides.kernel());
    nsdump::Merger merger(trace);
    for (nsdump::Run run; merger.next(run);)
        sides.consume(run);
    sides.finish();
    Stacks out;
    out.left_out = collector.left_out();
    out.frames = frames_of(collector.tree(), trace.names(), nsdump::FrameOrder::name);
    const auto keep = [] {};
    write_folded(out.frames, trace.names(), out.folded, keep);
    const nsdump::StackTitles titles = {"test.nsl", weight->words(trace), weight->unit(trace),
                                        weight->is_time(), ""};
    write_speedscope(out.frames, trace.names(), titles, out.speedscope, keep);
    out.omitted =
        write_flame_graph(frames_of(collector.tree(), trace.names(), nsdump::FrameOrder::total),
                          trace.names(), titles, out.graph, keep);
    std::istringstream lines(out.folded);
    for (std::string line; std::getline(lines, line);)
        out.weights[line.substr(0, line.rfind(' '))] = std::stod(line.substr(line.rfind(' ')));
    return out;
}
} // namespace test_support
