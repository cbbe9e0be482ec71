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
#include "analyse/tally.hpp"

namespace nsdump
{
// One field (ticks or a counter) of the slices with one name.
struct FieldStats {
    std::uint64_t count = 0;
    std::uint64_t net_count = 0; // with known constants
    std::uint64_t self_count = 0;
    std::uint64_t below_noise = 0; // net value not above zero
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
    std::uint64_t first_seen = 0; // order of first appearance as far as it was read in order, 0: never
    std::uint64_t migrated = 0;
    std::uint64_t spans_loss = 0;
    std::uint64_t stepped = 0; // counted by single-stepping: their ticks mean nothing
    FieldStats ticks; // complete after StatsCollector::finish()
    std::vector<FieldStats> counters; // made when the first values come
    Tallies tallies;                  // slices that are not yet in `ticks`
    std::uint64_t last_unit = 0;      // serial of the unit whose packets were counted last
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

// Which figures of a name have counted a unit's packets: its ticks, and its counters, which may have been off in earlier slices.
inline constexpr std::uint8_t kTicksSeen = 1;
inline constexpr std::uint8_t kCountersSeen = 2;

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
    // To be called after the last slice and before the figures are read.
    void finish();

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
        return add_to(table, name);
    }
    template <class Stats> Stats &add_to(Table<Stats> &table, NameId name);
    void add_ticks(SliceStats &stats, const Slice &slice);
    void add_counters(SliceStats &stats, const Slice &slice);
    void add_tally(SliceStats &stats, const Tally &tally);

    const Correction &correction_;
    std::size_t counters_;
    bool is_stepping_;
    std::uint64_t seen_ = 0;
    std::size_t tallies_left_ = kMaxTallies;
    Table<SliceStats> slices_;
    Table<UnitStats> units_;
    Table<MarkStats> marks_;
};

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
    const bool is_short = static_cast<std::uint64_t>(slice.raw_ticks) < Tally::kTicks;
    Tally *const tally =
        is_short ? stats.tallies.find({slice.inside, slice.cpu_index, slice.unit != nullptr}, tallies_left_) : nullptr;
    if (tally) [[likely]] {
        ++tally->counts[static_cast<std::size_t>(slice.raw_ticks)];
        if (slice.children > 0)
            tally->children.add(static_cast<double>(slice.child_ticks), slice.children, slice.in_children);
    } else {
        add_ticks(stats, slice);
    }
    if (slice.counters) [[unlikely]] {
        add_counters(stats, slice);
    } else if (slice.unit && slice.unit->serial != stats.last_unit) {
        stats.last_unit = slice.unit->serial;
        if (slice.unit->seen.note(slice.name, kTicksSeen))
            stats.ticks.packets += slice.unit->packets;
    }
}
} // namespace nsdump
