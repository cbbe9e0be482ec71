// SPDX-License-Identifier: MIT
// cli: --from and --to -> the ticks of a trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/read/moment.hpp"
#include "decode/file_reader.hpp"
#include "decode/seek/read_plan.hpp"

namespace command
{
class Argument;
class ArgumentSet;
} // namespace command

namespace nsdump
{
struct TimeRange {
    std::string from; // as given; empty: the beginning
    std::string to;   // empty: the end

    bool is_given() const { return !from.empty() || !to.empty(); }
};

// The two arguments; `what` has the range, for --help.
std::vector<command::Argument> add_time_range(command::ArgumentSet &arguments, TimeRange &range,
                                              const std::string &what = "only what ends");

// A point in time that was given, since the session's start.  Throws UsageError if the trace has no
// wall clock for it.
int64_t since_start_ns(const std::string &moment, const TraceFile &trace);
// Throws UsageError if the trace has no clock for it, or if the range is empty.
TickRange ticks_of(const TimeRange &range, const TraceFile &trace);
// 0 if the clock's rate is unknown.
uint64_t ticks_of(double length_ns, const TraceFile &trace);
// None if no range is given: everything is read.
std::optional<ReadPlan> plan_of(const TimeRange &range, const TraceFile &trace);
} // namespace nsdump
