// SPDX-License-Identifier: MIT
// analyse: slices -> statistics by name; the sink of the pairer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analyse/correction.hpp"
#include "analyse/histogram.hpp"
#include "analyse/moments.hpp"
#include "analyse/slice.hpp"
#include "analyse/subtract.hpp"

namespace nsdump
{
// One field (ticks or a counter) of the slices with one name.
struct FieldStats {
    std::uint64_t count = 0;
    std::uint64_t net_count = 0; // with known constants
    std::uint64_t self_count = 0;
    Moments raw;
    Moments net;
    double self_sum = 0;
    double subtracted_ci95_sum = 0;
    // The part that ran inside units.
    std::uint64_t unit_count = 0;
    std::uint64_t packets = 0;
    double unit_raw = 0;
    double unit_net = 0;
    double unit_self = 0;
    Histogram raw_histogram;
    Histogram net_histogram;
};

struct SliceStats {
    std::uint64_t first_seen = 0; // order of first appearance, 0: never
    std::uint64_t migrated = 0;
    std::uint64_t spans_loss = 0;
    std::uint64_t below_noise = 0;
    std::uint64_t stepped = 0; // counted by single-stepping: their ticks mean nothing
    FieldStats ticks;
    std::vector<FieldStats> counters; // made when the first values come
};

struct UnitStats {
    std::uint64_t first_seen = 0;
    std::uint64_t units = 0;
    std::uint64_t packets = 0;
    std::uint64_t wire_bytes = 0;
};

struct MarkStats {
    std::uint64_t first_seen = 0;
    std::uint64_t count = 0;
    std::uint64_t min = ~std::uint64_t{0};
    std::uint64_t max = 0;
    double sum = 0;
};

class StatsCollector
{
public:
    // is_stepping: counters come from single-stepping, so a slice that has them has no time.
    StatsCollector(const Correction &correction, std::size_t counters, bool is_stepping = false)
        : correction_(correction), counters_(counters), is_stepping_(is_stepping)
    {
    }

    void slice(const Slice &slice);
    void unit(const Unit &unit);
    void mark(NameId name, std::uint64_t value);

    // Null for a name that never came.
    const SliceStats *slice_stats(NameId name) const { return find(slices_, name); }
    const UnitStats *unit_stats(NameId name) const { return find(units_, name); }
    const MarkStats *mark_stats(NameId name) const { return find(marks_, name); }

private:
    template <class Stats> using Table = std::vector<std::unique_ptr<Stats>>;

    template <class Stats> static const Stats *find(const Table<Stats> &table, NameId name)
    {
        return name < table.size() ? table[name].get() : nullptr;
    }
    template <class Stats> Stats &at(Table<Stats> &table, NameId name)
    {
        if (name < table.size() && table[name]) [[likely]]
            return *table[name];
        if (name >= table.size())
            table.resize(name + 1);
        table[name] = std::make_unique<Stats>();
        table[name]->first_seen = ++seen_;
        return *table[name];
    }
    void add(FieldStats &stats, const FieldConstants &constants, const Slice &slice, double raw,
             const double *children_raw);
    void add_counters(SliceStats &stats, const Slice &slice);

    const Correction &correction_;
    std::size_t counters_;
    bool is_stepping_;
    std::uint64_t seen_ = 0;
    Table<SliceStats> slices_;
    Table<UnitStats> units_;
    Table<MarkStats> marks_;
};

inline void StatsCollector::add(FieldStats &stats, const FieldConstants &constants, const Slice &slice,
                                double raw, const double *children_raw)
{
    const double reciprocal = 1.0 / static_cast<double>(++stats.count);
    stats.raw.add(raw, reciprocal);
    stats.raw_histogram.add(raw);
    if (slice.unit) {
        ++stats.unit_count;
        stats.unit_raw += raw;
    }
    if (!constants.is_known)
        return;
    ++stats.net_count; // constants are known for all slices or for none, so the reciprocal fits both
    double net = raw - constants.inner;
    double ci95 = constants.inner_ci95;
    double self = net;
    if (slice.inside.any()) {
        net -= outer_sum(slice.inside, constants.outer);
        ci95 += outer_sum(slice.inside, constants.outer_ci95);
        self = children_raw ? net - children_net(*children_raw, slice.children, slice.in_children, constants) : net;
    }
    stats.net.add(net, reciprocal);
    stats.net_histogram.add(net);
    stats.subtracted_ci95_sum += ci95;
    if (children_raw) {
        ++stats.self_count;
        stats.self_sum += self;
    }
    if (slice.unit) {
        stats.unit_net += net;
        stats.unit_self += self;
    }
}

inline void StatsCollector::slice(const Slice &slice)
{
    SliceStats &stats = at(slices_, slice.name);
    if (slice.is_migrated || slice.spans_loss) [[unlikely]] { // classes of their own: not in the main statistics
        stats.migrated += slice.is_migrated;
        stats.spans_loss += !slice.is_migrated;
        return;
    }
    if (slice.counters && is_stepping_) [[unlikely]] {
        ++stats.stepped;
        add_counters(stats, slice);
        return;
    }
    const FieldConstants &constants = correction_.of(slice.cpu_index, 0);
    const double raw = static_cast<double>(slice.raw_ticks);
    const double children_raw = static_cast<double>(slice.child_ticks);
    add(stats.ticks, constants, slice, raw, &children_raw);
    stats.below_noise += constants.is_known && net_of(raw, slice.inside, constants) <= 0;
    if (slice.counters) [[unlikely]]
        add_counters(stats, slice);
    else if (slice.unit && slice.unit->seen.note(slice.name, 1))
        stats.ticks.packets += slice.unit->packets;
}
} // namespace nsdump
