// SPDX-License-Identifier: MIT
// cli: a unit, a name and a range of time -> the parts of the trace that have to be read for them.
#pragma once

#include <optional>
#include <string>

#include "cli/read/time_range.hpp"
#include "decode/seek/unit_index.hpp"

namespace nsdump
{
struct Selection {
    TimeRange range;
    std::optional<uint64_t> unit;
    std::string slice; // name; empty: all
};

// Where the units with this number are, on any thread.
std::vector<TickRange> spans_of_unit(TraceFile &trace, const UnitIndex &index, uint64_t number);
// Where slices, marks and units of this name are; none if they are nearly everywhere.
std::optional<std::vector<TickRange>> spans_of_name(TraceFile &trace, const UnitIndex &index,
                                                    const std::string &name);

// None if everything has to be read.
std::optional<ReadPlan> plan_of(const Selection &selection, TraceFile &trace, bool is_quiet);
} // namespace nsdump
