// SPDX-License-Identifier: MIT
// analyse: slices -> statistics by name; the parts that are not in the way of a plain slice.
#include "analyse/stats.hpp"

#include <algorithm>

namespace nsdump
{
void StatsCollector::add_counters(SliceStats &stats, const Slice &slice)
{
    if (stats.counters.empty())
        stats.counters.resize(counters_);
    for (std::size_t i = 0; i < counters_; ++i) {
        const double children_raw =
            slice.child_counters ? static_cast<double>(slice.child_counters[i]) : 0;
        add(stats.counters[i], correction_.of(slice.cpu_index, i + 1), slice,
            static_cast<double>(slice.counters[i]), slice.child_counters ? &children_raw : nullptr);
    }
    if (!slice.unit)
        return;
    // A unit counts once for the ticks and once for the counters, which may have been off in its earlier slices.
    constexpr std::uint8_t kTicks = 1; // StatsCollector::slice() notes it, too
    constexpr std::uint8_t kCounters = 2;
    const std::uint8_t fresh = slice.unit->seen.note(slice.name, kTicks | kCounters);
    if ((fresh & kTicks) && !is_stepping_)
        stats.ticks.packets += slice.unit->packets;
    if (fresh & kCounters)
        for (FieldStats &counter : stats.counters)
            counter.packets += slice.unit->packets;
}

void StatsCollector::unit(const Unit &unit)
{
    UnitStats &stats = at(units_, unit.name);
    ++stats.units;
    stats.packets += unit.packets;
    stats.wire_bytes += unit.wire_bytes;
}

void StatsCollector::mark(NameId name, std::uint64_t value)
{
    MarkStats &stats = at(marks_, name);
    ++stats.count;
    stats.min = std::min(stats.min, value);
    stats.max = std::max(stats.max, value);
    stats.sum += static_cast<double>(value);
}
} // namespace nsdump
