// SPDX-License-Identifier: MIT
// analyse: slices -> statistics by name; the parts that are not in the way of a plain slice.
#include "analyse/stats.hpp"

#include <algorithm>

namespace nsdump
{
namespace
{
struct Value {
    double raw;
    std::uint64_t count; // slices with this raw value
    bool is_in_unit;
};

// Returns the sum of the net values; 0 without constants.
double add_value(FieldStats &stats, const FieldConstants &constants, const ProbeCounts &inside, const Value &value)
{
    const double n = static_cast<double>(value.count);
    stats.count += value.count;
    stats.raw.add(value.raw, value.count, stats.count);
    stats.raw_histogram.add(value.raw, value.count);
    if (value.is_in_unit) {
        stats.unit_count += value.count;
        stats.unit_raw += n * value.raw;
    }
    if (!constants.is_known)
        return 0;
    stats.net_count += value.count;
    const double net = net_of(value.raw, inside, constants);
    stats.net.add(net, value.count, stats.net_count);
    stats.net_histogram.add(net, value.count);
    stats.below_noise += net <= 0 ? value.count : 0;
    stats.subtracted_ci95_sum += n * subtracted_ci95(inside, constants);
    if (value.is_in_unit)
        stats.unit_net += n * net;
    return n * net;
}

void add_self(FieldStats &stats, const FieldConstants &constants, double self, const Value &value)
{
    if (!constants.is_known)
        return;
    stats.self_count += value.count;
    stats.self_sum += self;
    if (value.is_in_unit)
        stats.unit_self += self;
}
} // namespace

template <class Stats> Stats &StatsCollector::add_to(Table<Stats> &table, NameId name)
{
    if (name >= table.size())
        table.resize(name + 1);
    table[name] = std::make_unique<Stats>();
    table[name]->first_seen = ++seen_;
    return *table[name];
}
template SliceStats &StatsCollector::add_to(Table<SliceStats> &table, NameId name);

void StatsCollector::add_ticks(SliceStats &stats, const Slice &slice)
{
    const FieldConstants &constants = correction_.of(slice.cpu_index, 0);
    const Value value{static_cast<double>(slice.raw_ticks), 1, slice.unit != nullptr};
    const double net = add_value(stats.ticks, constants, slice.inside, value);
    ChildSums children;
    children.add(static_cast<double>(slice.child_ticks), slice.children, slice.in_children);
    add_self(stats.ticks, constants, net - children_net(children, constants), value);
}

void StatsCollector::add_counters(SliceStats &stats, const Slice &slice)
{
    if (stats.counters.empty())
        stats.counters.resize(counters_);
    for (std::size_t i = 0; i < counters_; ++i) {
        const FieldConstants &constants = correction_.of(slice.cpu_index, i + 1);
        const Value value{static_cast<double>(slice.counters[i]), 1, slice.unit != nullptr};
        const double net = add_value(stats.counters[i], constants, slice.inside, value);
        if (slice.child_counters) {
            ChildSums children;
            children.add(static_cast<double>(slice.child_counters[i]), slice.children, slice.in_children);
            add_self(stats.counters[i], constants, net - children_net(children, constants), value);
        }
    }
    if (!slice.unit)
        return;
    const std::uint8_t fresh = slice.unit->seen.note(slice.name, kTicksSeen | kCountersSeen);
    if ((fresh & kTicksSeen) && !is_stepping_)
        stats.ticks.packets += slice.unit->packets;
    if (fresh & kCountersSeen)
        for (FieldStats &counter : stats.counters)
            counter.packets += slice.unit->packets;
}

void StatsCollector::add_tally(SliceStats &stats, const Tally &tally)
{
    const FieldConstants &constants = correction_.of(tally.shape.cpu_index, 0);
    Value all{0, 0, tally.shape.is_in_unit};
    double net = 0;
    for (std::size_t ticks = 0; ticks < Tally::kTicks; ++ticks) {
        const Value value{static_cast<double>(ticks), tally.counts[ticks], tally.shape.is_in_unit};
        if (value.count == 0)
            continue;
        net += add_value(stats.ticks, constants, tally.shape.inside, value);
        all.count += value.count;
    }
    add_self(stats.ticks, constants, net - children_net(tally.children, constants), all);
}

void StatsCollector::finish()
{
    for (const auto &stats : slices_) {
        if (!stats)
            continue;
        for (const auto &tally : stats->tallies.all())
            add_tally(*stats, *tally);
        stats->tallies.clear();
    }
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
