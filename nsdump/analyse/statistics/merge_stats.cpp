// SPDX-License-Identifier: MIT
// analyse: the statistics of two parts of a trace -> those of both.
#include <algorithm>
#include <utility>

#include "analyse/statistics/stats.hpp"

namespace nsdump
{
void FieldStats::merge(const FieldStats &other)
{
    count += other.count;
    net_count += other.net_count;
    self_count += other.self_count;
    below_noise += other.below_noise;
    raw.merge(other.raw, other.count, count);
    net.merge(other.net, other.net_count, net_count);
    self.merge(other.self, other.self_count, self_count);
    net_errors.merge(other.net_errors);
    self_errors.merge(other.self_errors);
    net_blocks.merge(other.net_blocks);
    per_unit.merge(other.per_unit);
    unit_count += other.unit_count;
    packets += other.packets;
    unit_raw += other.unit_raw;
    unit_net += other.unit_net;
    unit_self += other.unit_self;
    raw_histogram.merge(other.raw_histogram);
    net_histogram.merge(other.net_histogram);
}

void SliceStats::merge(SliceStats &&other)
{
    migrated += other.migrated;
    spans_loss += other.spans_loss;
    crossed += other.crossed;
    stepped += other.stepped;
    interrupted += other.interrupted;
    interrupts += other.interrupts;
    switches += other.switches;
    taken_ticks += other.taken_ticks;
    uncounted += other.uncounted;
    ticks.merge(other.ticks);
    if (counters.empty())
        counters = std::move(other.counters);
    else
        for (size_t i = 0; i < other.counters.size(); ++i)
            counters[i].merge(other.counters[i]);
}

namespace
{
void add(SliceStats &sum, SliceStats &&one)
{
    sum.merge(std::move(one));
}

void add(UnitStats &sum, const UnitStats &one)
{
    sum.units += one.units;
    sum.packets += one.packets;
    sum.wire_bytes += one.wire_bytes;
}

void add(MarkStats &sum, const MarkStats &one)
{
    sum.count += one.count;
    sum.min = std::min(sum.min, one.min);
    sum.max = std::max(sum.max, one.max);
    sum.sum += one.sum;
}

// Names that only `from` has appeared after all names of `to`, of which there are `seen`.
template <class Table> void merge_tables(Table &to, Table &from, uint64_t seen)
{
    if (to.size() < from.size())
        to.resize(from.size());
    for (size_t name = 0; name < from.size(); ++name) {
        if (!from[name])
            continue;
        if (to[name]) {
            add(*to[name], std::move(*from[name]));
        } else {
            from[name]->first_seen += seen;
            to[name] = std::move(from[name]);
        }
    }
}
} // namespace

void StatsCollector::merge(StatsCollector &&other)
{
    finish();
    other.finish();
    merge_tables(slices_, other.slices_, seen_);
    merge_tables(units_, other.units_, seen_);
    merge_tables(marks_, other.marks_, seen_);
    seen_ += other.seen_;
}
} // namespace nsdump
