// SPDX-License-Identifier: MIT
// cli: --from and --to -> the ticks of a trace.
#include "cli/read/time_range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "decode/clock.hpp"

namespace nsdump
{
namespace
{
double since_start_ns(const Moment &moment, const TraceFile &trace)
{
    if (!moment.is_absolute)
        return double(moment.ns);
    const int64_t start_ns = start_unix_ns(trace);
    if (start_ns <= 0)
        throw command::UsageError(
            fmt::format("{}: has no wall clock (give times since its start, such as 1.5s)",
                        trace.source().name()));
    return double(moment.ns - start_ns);
}

uint64_t ticks_at(double ns, const Clock &clock, uint64_t zero_ticks)
{
    const double ticks = std::round(ns * clock.hz / 1e9);
    const uint64_t room = std::numeric_limits<uint64_t>::max() - zero_ticks;
    return zero_ticks + std::min(uint64_t(std::clamp(ticks, 0.0, 0x1p63)), room);
}
} // namespace

std::vector<command::Argument> add_time_range(command::ArgumentSet &arguments, TimeRange &range)
{
    const command::Argument from =
        arguments
            .add("--from", range.from,
                 "only what ends at this time or later: since the start (1.5s, 200ms), or UTC "
                 "(2026-11-29T12:00:00Z)")
            .kind("TIME")
            .check(is_moment);
    const command::Argument to =
        arguments.add("--to", range.to, "only what ends at this time or earlier")
            .kind("TIME")
            .check(is_moment);
    return {from, to};
}

TickRange ticks_of(const TimeRange &range, const TraceFile &trace)
{
    TickRange ticks;
    if (!range.is_given())
        return ticks;
    const Clock clock = clock_of(trace);
    if (clock.hz <= 0)
        throw command::UsageError(
            fmt::format("{}: the rate of its clock is unknown, so there are no times in it (omit "
                        "--from and --to)",
                        trace.source().name()));
    const uint64_t zero_ticks = zero_ticks_of(trace, clock);
    const auto at = [&](const std::string &text) {
        return since_start_ns(moment_of(text).value(), trace);
    };
    if (!range.to.empty() && at(range.to) < 0)
        throw command::UsageError(
            fmt::format("{}: --to {} is before its start", trace.source().name(), range.to));
    if (!range.from.empty())
        ticks.from_ticks = ticks_at(at(range.from), clock, zero_ticks);
    if (!range.to.empty())
        ticks.to_ticks = ticks_at(at(range.to), clock, zero_ticks);
    if (ticks.is_empty())
        throw command::UsageError(fmt::format("--from {} is after --to {}", range.from, range.to));
    return ticks;
}

uint64_t ticks_of(double length_ns, const TraceFile &trace)
{
    const Clock clock = clock_of(trace);
    return clock.hz > 0 ? uint64_t(std::min(length_ns * clock.hz / 1e9, 0x1p62)) : 0;
}

std::optional<ReadPlan> plan_of(const TimeRange &range, const TraceFile &trace)
{
    if (!range.is_given())
        return std::nullopt;
    return ReadPlan(ticks_of(range, trace), ticks_of(kLeadInNs, trace));
}
} // namespace nsdump
