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

inline constexpr size_t kMaxFound = 1 << 20; // bounds memory

// Where the units with this number are, on any thread; none if more than `max_found` begin.
std::optional<std::vector<TickRange>> spans_of_unit(TraceFile &trace, const UnitIndex &index,
                                                    uint64_t number, size_t max_found = kMaxFound);
// Where slices, marks and units of this name are; none if they are nearly everywhere, or have more
// than `max_found` events.
std::optional<std::vector<TickRange>> spans_of_name(TraceFile &trace, const UnitIndex &index,
                                                    const std::string &name,
                                                    size_t max_found = kMaxFound);

// None if everything has to be read.
std::optional<ReadPlan> plan_of(const Selection &selection, TraceFile &trace, bool is_quiet);
} // namespace nsdump
