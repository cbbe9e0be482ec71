// SPDX-License-Identifier: MIT
// cli: --from and --to -> the ticks of a trace.
#include "cli/read/time_range.hpp"

#include <fmt/format.h>

#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "decode/clock.hpp"

namespace nsdump
{
std::vector<command::Argument> add_time_range(command::ArgumentSet &arguments, TimeRange &range,
                                              const std::string &what)
{
    const command::Argument from =
        arguments
            .add("--from", range.from,
                 what + " at this time or later: since the start (1.5s, 200ms), or UTC "
                        "(2026-11-29T12:00:00Z)")
            .kind("TIME")
            .check(is_moment);
    const command::Argument to = arguments.add("--to", range.to, what + " at this time or earlier")
                                     .kind("TIME")
                                     .check(is_moment);
    return {from, to};
}

int64_t since_start_ns(const std::string &moment, const TraceFile &trace)
{
    const Moment parsed = moment_of(moment).value();
    if (!parsed.is_absolute)
        return parsed.ns;
    const int64_t start_ns = start_unix_ns(trace);
    if (start_ns <= 0)
        throw command::UsageError(
            fmt::format("{}: has no wall clock (give times since its start, such as 1.5s)",
                        trace.source().name()));
    return parsed.ns - start_ns;
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
    if (!range.to.empty() && since_start_ns(range.to, trace) < 0)
        throw command::UsageError(
            fmt::format("{}: --to {} is before its start", trace.source().name(), range.to));
    const auto at = [&](const std::string &moment) {
        return ticks_at(double(since_start_ns(moment, trace)), clock, zero_ticks);
    };
    if (!range.from.empty())
        ticks.from_ticks = at(range.from);
    if (!range.to.empty())
        ticks.to_ticks = at(range.to);
    if (ticks.is_empty())
        throw command::UsageError(fmt::format("--from {} is after --to {}", range.from, range.to));
    return ticks;
}

uint64_t ticks_of(double length_ns, const TraceFile &trace)
{
    return ticks_in(length_ns, clock_of(trace));
}

std::optional<ReadPlan> plan_of(const TimeRange &range, const TraceFile &trace)
{
    if (!range.is_given())
        return std::nullopt;
    return ReadPlan(ticks_of(range, trace), ticks_of(kLeadInNs, trace));
}
} // namespace nsdump
