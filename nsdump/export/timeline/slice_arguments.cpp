// SPDX-License-Identifier: MIT
// export: a slice -> what a timeline keeps of it, and its arguments.
#include "export/timeline/slice_arguments.hpp"

#include <algorithm>

namespace nsdump
{
SliceArguments::SliceArguments(const TraceFile &trace, const Correction &correction,
                               const MonotonicTime &time)
    : trace_(trace), correction_(correction), time_(time),
      program_counters_(names_of(trace.counter_names(), "")),
      kernel_counters_(names_of(trace.kernel_counter_names(), kKernelPrefix))
{
}

std::vector<SliceArguments::CounterNames>
SliceArguments::names_of(const std::vector<std::string> &counters, const std::string &prefix)
{
    std::vector<CounterNames> names;
    for (const std::string &counter : counters)
        names.push_back({"raw_" + prefix + counter, "net_" + prefix + counter});
    return names;
}

TimelineSlice SliceArguments::kept(const Slice &slice) const
{
    TimelineSlice kept;
    kept.name = slice.name;
    kept.cpu_index = slice.cpu_index;
    kept.thread_id = slice.thread_id;
    kept.depth = slice.depth;
    kept.raw_ticks = slice.raw_ticks;
    kept.has_net_ticks = correction_.of(slice.cpu_index, 0).is_known;
    kept.net_ticks = net_ticks_of(slice, correction_);
    kept.of_class = slice_class_of(slice, kept.has_net_ticks && kept.net_ticks <= 0);
    kept.is_crossed = slice.is_crossed;
    if (slice.unit) {
        kept.has_unit = true;
        kept.unit_name = slice.unit->name;
        kept.unit_number = slice.unit->number;
        kept.packets = slice.unit->packets;
    }
    if (!slice.counters)
        return kept;
    kept.has_counters = true;
    const bool is_kernel = trace_.cpus()[slice.cpu_index].is_kernel;
    const size_t count = (is_kernel ? kernel_counters_ : program_counters_).size();
    for (size_t i = 0; i < count; ++i) {
        kept.raw_counters[i] = slice.counters[i];
        if (!correction_.of(slice.cpu_index, i + 1).is_known)
            continue;
        kept.known_nets |= uint8_t(1u << i);
        kept.net_counters[i] = net_counter_of(slice, i, correction_);
    }
    return kept;
}

std::span<const Argument> SliceArguments::of(const TimelineSlice &slice)
{
    const CpuChunks &cpu = trace_.cpus()[slice.cpu_index];
    const auto add = [this](std::string_view name, ArgumentValue value) {
        arguments_.push_back({name, value});
    };
    arguments_.clear();
    add("cpu", uint64_t{cpu.cpu});
    add("thread", uint64_t{slice.thread_id});
    add("depth", uint64_t{slice.depth});
    add("class", std::string_view(slice_class_name(slice.of_class)));
    if (slice.has_unit) {
        add("unit", std::string_view(trace_.names()[slice.unit_name].text));
        add("unit_number", slice.unit_number);
        add("packets", slice.packets);
    }
    add("raw_ticks", slice.raw_ticks);
    add("raw_ns", time_.duration_ns(double(slice.raw_ticks)));
    if (slice.has_net_ticks) {
        add("net_ticks", slice.net_ticks);
        add("net_ns", time_.duration_ns(slice.net_ticks));
    }
    if (!slice.has_counters)
        return arguments_;
    const auto &counters = cpu.is_kernel ? kernel_counters_ : program_counters_;
    for (size_t i = 0; i < counters.size(); ++i) {
        add(counters[i].raw, slice.raw_counters[i]);
        if (slice.known_nets & 1u << i)
            add(counters[i].net, slice.net_counters[i]);
    }
    return arguments_;
}
} // namespace nsdump
