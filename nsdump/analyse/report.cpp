// SPDX-License-Identifier: MIT
// analyse: a report -> answers that all its users need.
#include "analyse/report.hpp"

namespace nsdump
{
bool StatsReport::has_findings() const
{
    return damaged_chunks > 0 || missing_chunks > 0 || !incomplete.empty() ||
           losses.kernel_totals_missing || !losses.equation_holds.value_or(true);
}

std::string field_name(unsigned field, const std::vector<std::string> &counters)
{
    if (field == 0)
        return "ticks";
    return field <= counters.size() ? counters[field - 1] : "counter-" + std::to_string(field);
}
} // namespace nsdump
