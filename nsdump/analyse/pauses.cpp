// SPDX-License-Identifier: MIT
// analyse: what a trace says of pauses -> how often, how long, and what they left out.
#include "analyse/pauses.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "common/command/counted.hpp"

namespace nsdump
{
namespace
{
std::optional<uint64_t> number_of(const TraceFile &trace, const char *key)
{
    const std::string text = trace.info(key);
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

// Each has a line of its own, up to a limit.
uint64_t switches_listed(const TraceFile &trace)
{
    uint64_t switches = 0;
    while (!trace.info(fmt::format("session.switch.{}", switches + 1)).empty())
        ++switches;
    return switches;
}
} // namespace

Pauses pauses_of(const TraceFile &trace)
{
    Pauses pauses;
    const uint64_t switches = number_of(trace, "session.switches").value_or(switches_listed(trace));
    pauses.count = switches / 2 + switches % 2; // the first switch is the begin of a pause
    pauses.ns = number_of(trace, "session.paused_ns");
    for (const CpuChunks &chunks : trace.cpus())
        pauses.left_out = std::max(pauses.left_out, chunks.left_out_before);
    pauses.left_out = number_of(trace, "session.paused_records").value_or(pauses.left_out);
    return pauses;
}

std::string Pauses::words() const
{
    if (count == 0)
        return "";
    const std::string often = count == 1 ? "once" : fmt::format("{} times", count);
    const std::string records = command::counted(left_out, "record was", "records were");
    if (!ns)
        return fmt::format("the recording was paused {}: at least {} left out", often, records);
    return fmt::format("the recording was paused {}, for {:.3f} s: {} left out", often,
                       double(*ns) / 1e9, records);
}
} // namespace nsdump
