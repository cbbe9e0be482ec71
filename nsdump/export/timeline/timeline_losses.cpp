// SPDX-License-Identifier: MIT
// export: losses of a trace -> instants on the tracks of their CPUs.
#include <vector>

#include "export/timeline/timeline.hpp"

namespace nsdump
{
// The footer counts by cause for a whole ring, so the cause of one loss is known only if the ring
// has no other.
std::string Timeline::loss_reason(const CpuChunks &cpu, uint64_t lost) const
{
    if (lost == 0)
        return "chunks are missing or damaged";
    std::string causes;
    size_t count = 0;
    for (const CpuLosses &one : losses_.by_cpu) {
        if (one.cpu != cpu.cpu || one.is_kernel != cpu.is_kernel)
            continue;
        for (size_t cause = 0; cause < kLostCauses; ++cause)
            if (one.lost[cause] > 0) {
                causes += (count++ > 0 ? " or " : "") + std::string(lost_name(cause));
            }
        if (one.lost_other > 0)
            causes += count++ > 0 ? " or another cause" : "another cause";
    }
    return count > 0 ? causes : "unknown";
}

void Timeline::tell_loss(uint32_t cpu_index, uint64_t lost, uint64_t ticks)
{
    const CpuChunks &cpu = trace_.cpus()[cpu_index];
    const std::string reason = loss_reason(cpu, lost);
    std::vector<Argument> arguments = {{"reason", std::string_view(reason)}};
    if (lost > 0)
        arguments.push_back({"lost", lost});
    TimelineEvent loss;
    loss.name = cpu.is_kernel ? "kernel records lost" : "records lost";
    loss.category = "loss";
    instant_after(cpu_index, loss, arguments, ticks);
}

void Timeline::tell_pause(uint32_t cpu_index, uint64_t left_out, uint64_t ticks)
{
    TimelineEvent pause;
    pause.name = "recording was paused";
    pause.category = "pause";
    instant_after(cpu_index, pause, {{"left_out_on_all_cpus", left_out}}, ticks);
}

// At the first record after what is missing, which was written since the record before it.
void Timeline::instant_after(uint32_t cpu_index, TimelineEvent event,
                             std::vector<Argument> arguments, uint64_t ticks)
{
    const Ring &ring = rings_[cpu_index];
    const auto at_ns = time_.ns(ticks);
    if (!at_ns) {
        ++out_of_range_;
        return;
    }
    if (const auto since_ns = time_.ns(ring.last_ticks); ring.has_records && since_ns)
        arguments.push_back({"since_ns", *since_ns});
    event.start_ns = *at_ns;
    event.arguments = arguments;
    writer_.instant(stacks_.cpu(trace_.cpus()[cpu_index].cpu).track, event, out_);
}
} // namespace nsdump
