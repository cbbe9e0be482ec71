// SPDX-License-Identifier: MIT
// results: estimates of all passes, by name of the measured item.
#include "results.hpp"

#include <algorithm>
#include <string_view>

namespace calibrate
{
namespace
{
template <typename Row, typename Wanted>
Row &find_or_add(std::vector<Row> &rows, Wanted is_wanted, Row fresh)
{
    const auto found = std::find_if(rows.begin(), rows.end(), is_wanted);
    if (found != rows.end())
        return *found;
    rows.push_back(std::move(fresh));
    return rows.back();
}

ProbeRow &probe_in(std::vector<ProbeRow> &rows, const std::string &macro, const Setting &setting)
{
    const auto same = [&](const ProbeRow &row) {
        return row.macro == macro && row.setting == setting;
    };
    return find_or_add(rows, same, ProbeRow{macro, setting, {}, {}, {}, {}, {}, {}, {}});
}
} // namespace

Series &Results::clock_read(const std::string &name)
{
    const auto same = [&](const ClockReadRow &row) { return row.name == name; };
    return find_or_add(clock_reads, same, ClockReadRow{name, {}}).ticks;
}

ProbeRow &Results::probe(const std::string &macro, const Setting &setting)
{
    return probe_in(probes, macro, setting);
}

ProbeRow &Results::half(const std::string &macro, const Setting &setting)
{
    return probe_in(halves, macro, setting);
}

Series &Results::instruction(const std::string &name)
{
    const auto same = [&](const InstructionRow &row) { return row.name == name; };
    return find_or_add(instructions, same, InstructionRow{name, {}}).ticks;
}

Series &Results::kernel_cost(const std::string &name)
{
    const auto same = [&](const InstructionRow &row) { return row.name == name; };
    return find_or_add(kernel_costs, same, InstructionRow{name, {}}).ticks;
}

RingRow &Results::ring(const std::string &name, const Setting &setting)
{
    const auto same = [&](const RingRow &row) {
        return row.name == name && row.setting == setting;
    };
    RingRow fresh;
    fresh.name = name;
    fresh.setting = setting;
    return find_or_add(rings, same, fresh);
}

void Results::lacks(const std::string &what, const std::string &reason)
{
    const auto same = [&](const Unavailable &lack) { return lack.what == what; };
    find_or_add(unavailable, same, Unavailable{what, reason});
}

std::string Results::why_lacking(const std::string &what) const
{
    for (const Unavailable &lack : unavailable)
        if (lack.what == what)
            return lack.reason;
    return "";
}

std::string Results::why_no_counters() const
{
    constexpr std::string_view kCounters = "counters from ";
    std::string text;
    for (const Unavailable &lack : unavailable)
        if (lack.what.starts_with(kCounters))
            text += (text.empty() ? "" : "; ") + lack.what.substr(kCounters.size()) + ": " +
                    lack.reason;
    return text;
}
} // namespace calibrate
