// SPDX-License-Identifier: MIT
// rows: text about where the figures come from.
#include "rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/command/counted.hpp"

namespace mapi_cost
{
std::optional<double> Row::driver_read_cycles() const
{
    const auto found = std::find_if(parts.begin(), parts.end(),
                                    [](const RowPart &part) { return part.name == "driver_read"; });
    return found == parts.end() ? std::nullopt : found->cycles;
}

std::string damage_text(const Survey &survey)
{
    if (survey.unread_bytes == 0)
        return survey.message;
    return fmt::format("{}; {} not read; the costs cover the {} before", survey.message,
                       command::counted(survey.unread_bytes, "byte"),
                       command::counted(survey.packets, "packet"));
}

std::string instruction_source_text(const std::string &source)
{
    if (source == "step")
        return "step: exact, single-stepped";
    if (source == "rdpmc")
        return "rdpmc: PMU, user space only";
    if (source == "perf-read")
        return "perf-read: PMU through read(), user space only";
    if (source == "papi")
        return "papi: PAPI_TOT_INS, user space only";
    return source;
}

std::string cycle_source_text(const nsdump::Clock &clock)
{
    return fmt::format("TSC cycles, {:.3f} GHz, not core cycles", clock.hz / 1e9);
}
} // namespace mapi_cost
