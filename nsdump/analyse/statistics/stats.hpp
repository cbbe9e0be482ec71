// SPDX-License-Identifier: MIT
// analyse: slices -> statistics by name; the sink of the pairer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analyse/correct/correction.hpp"
#include "analyse/correct/subtract.hpp"
#include "analyse/pair/slice.hpp"
#include "analyse/statistics/batch.hpp"
#include "analyse/statistics/histogram.hpp"
#include "analyse/statistics/moments.hpp"
#include "analyse/statistics/per_unit.hpp"
#include "analyse/statistics/spill.hpp"
#include "analyse/statistics/tally.hpp"

namespace nsdump
{
// One field (ticks or a counter) of the slices with one name.
struct FieldStats {
    uint64_t count = 0;
    uint64_t net_count = 0; // with known constants
    uint64_t self_count = 0;
    uint64_t below_noise = 0; // net value is not above zero
    Moments raw;
    Moments net;
    Moments self;
    SubtractedErrors net_errors; // of the sums
    SubtractedErrors self_errors;
    Blocks net_blocks; // in reading order
    PerUnit per_unit;  // of net
    // Only slices inside units.
    uint64_t unit_count = 0;
    uint64_t packets = 0;
    double unit_raw = 0;
    double unit_net = 0;
    double unit_self = 0;
    Histogram raw_histogram;
    Histogram net_histogram;

    // Adds those of other slices of the name; both are finished and stay so.
    void merge(const FieldStats &other);
};

struct SliceStats {
    uint64_t first_seen = 0;  // order of first appearance in reading order; 0: never seen
    uint64_t migrated = 0;    // not in `ticks`, but in `counters`, which belong to the thread
    uint64_t spans_loss = 0;  // in neither
    uint64_t crossed = 0;     // in neither
    uint64_t stepped = 0;     // counted by single-stepping: their ticks are meaningless
    uint64_t interrupted = 0; // in both
    uint64_t interrupts = 0;  // inside these, from the kernel's records
    uint64_t switches = 0;
    double taken_ticks =
        0; // subtracted for interrupts, switches and kernel probes, beyond own probes
    uint64_t uncounted = 0;           // only in `ticks`, although the session uses counters
    FieldStats ticks;                 // complete after StatsCollector::finish()
    std::vector<FieldStats> counters; // allocated with the first values
    Tallies tallies;                  // slices that are not yet in `ticks`
    ValueCounts values;               // the same, in a trace with very many names
    SelfRun self_run;                 // of `values`, for the shape self_shape
    uint16_t self_shape = 0;
    size_t held_bytes = 0; // as last counted by StatsCollector

    void merge(SliceStats &&other); // as of FieldStats
    // Memory that grows with the values of slices, in a trace with very many names.
    size_t bytes() const
    {
        return values.bytes() + ticks.raw_histogram.bytes() + ticks.net_histogram.bytes();
    }
    // Prefetches what a batch needs, first the parts that point to the rest.
    void prefetch() const
    {
        __builtin_prefetch(&interrupted, 1);
        __builtin_prefetch(&ticks.self_count, 1);
        __builtin_prefetch(&ticks.self, 1);
        __builtin_prefetch(&ticks.self + 1, 1);
        __builtin_prefetch(&ticks.self_errors, 1);
        __builtin_prefetch(&ticks.self_errors + 1, 1);
        __builtin_prefetch(&ticks.packets, 1);
        __builtin_prefetch(&ticks.unit_self, 1);
        __builtin_prefetch(&values, 1);
        __builtin_prefetch(&self_run, 1);
        __builtin_prefetch(&self_shape, 1);
        ticks.net_blocks.prefetch();
        ticks.per_unit.prefetch();
    }
    void prefetch_all() const
    {
        values.prefetch();
        ticks.self_errors.prefetch();
    }
};

// Amount subtracted from one value of a slice for interruptions: in total, and for those in slices
// inside.
struct Taken {
    double all = 0;
    double in_children = 0;

    double own() const { return all - in_children; }
};

struct UnitStats {
    uint64_t first_seen = 0;
    uint64_t units = 0;
    uint64_t packets = 0;
    uint64_t wire_bytes = 0;
};

struct MarkStats {
    uint64_t first_seen = 0;
    uint64_t count = 0;
    uint64_t min = ~uint64_t{0};
    uint64_t max = 0;
    double sum = 0;
};

// With more names than this, tallies would neither stay in the cache nor fit in memory.
inline constexpr size_t kMaxTalliedNames = 512;

// Limit over all names: beyond it slices go to a temporary file until the statistics of their name
// are needed.
inline constexpr size_t kMaxHeldBytes = 28u << 20;

// The figures of a name that have counted a unit's packets: its ticks, and its counters, which may
// have been missing in earlier slices.
inline constexpr uint8_t kTicksSeen = 1;
inline constexpr uint8_t kCountersSeen = 2;

class StatsCollector
{
public:
    // is_stepping: counters come from single-stepping, so a slice with counters has no valid time.
    // `row_slices`: as of Batches.
    StatsCollector(const Correction &correction, size_t counters, bool is_stepping = false,
                   size_t row_slices = Batches::kSlices)
        : correction_(correction), counters_(counters), is_stepping_(is_stepping),
          is_counting_(counters > 0 && !is_stepping), shapes_(correction), batches_(row_slices),
          spill_(row_slices * sizeof(BatchedSlice))
    {
    }

    void slice(const Slice &slice);
    // See Pairer.
    bool plain(const PlainSlice &slice);
    bool leaves(const LeavesSlice &slice);
    bool is_spread() const { return is_batching_; }
    void expect(NameId name) const { batches_.prefetch(name); }
    void unit(const Unit &unit);
    void mark(NameId name, uint64_t value);
    // Call after the last slice and before the figures are read.
    void finish();
    // Adds the figures of slices that another collector got; finishes both.
    void merge(StatsCollector &&other);
    void set_max_held_bytes(size_t bytes) { max_held_bytes_ = bytes; }
    bool is_spilling() const { return is_spilling_; }
    // Finishes the name's statistics and moves them out, since with very many names they do not all
    // fit in memory in finished form.
    std::unique_ptr<SliceStats> take(NameId name);

    // Null for a name that never occurred.
    const SliceStats *slice_stats(NameId name) const { return find(slices_, name); }
    const UnitStats *unit_stats(NameId name) const { return find(units_, name); }
    const MarkStats *mark_stats(NameId name) const { return find(marks_, name); }

private:
    struct LeavesPlace {
        uint64_t key = kNoKey; // leaves, CPU and whether it is in a unit
        Tally *tally = nullptr;
        SliceStats *stats = nullptr;
    };
    static constexpr uint64_t kNoKey = ~uint64_t{0};
    // Of a name: numbers of leaves that are equal modulo this share one.
    static constexpr size_t kLeavesPlaces = 4;

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
    void add_one(SliceStats &stats, const Slice &slice);
    void add_time(SliceStats &stats, const Slice &slice);
    void add_ticks(SliceStats &stats, const Slice &slice, const Taken &taken);
    Taken take_interruptions(SliceStats &stats, const Slice &slice);
    void begin_self_run(SliceStats &stats, const Slice &slice, Tally *tally, const Taken &taken);
    void end_self_run(SliceStats &stats, const Shape &shape, const SelfRun &run);
    const LeavesPlace *find_leaves(NameId name, const Shape &shape, uint64_t key);
    void forget_places();
    void add_net(SliceStats &stats, NameId name, double net, Unit *unit);
    void begin_unit(SliceStats &stats, NameId name, Unit &unit);
    void add_counters(SliceStats &stats, const Slice &slice);
    void add_left_out(SliceStats &stats, const Slice &slice);
    void add_tally(SliceStats &stats, const Tally &tally);
    void add_counted(SliceStats &stats, const Shape &shape, uint32_t raw_ticks, uint64_t count);
    void end_tallies(SliceStats &stats);
    void finish(NameId name);
    bool can_be_batched(const Slice &slice) const
    {
        return !(slice.is_migrated | slice.spans_loss | slice.is_crossed | is_counting_) &&
               !slice.interruptions && !slice.counters && BatchedSlice::fits(slice);
    }
    void begin_batching();
    // False if the slice has to be added individually.
    bool add_to_batch(const Slice &slice);
    void add_unbatched(const Slice &slice);
    void append(NameId name, const BatchedSlice &one);
    void append_long(const Slice &slice, size_t shape, bool is_first);
    void flush(NameId name);
    void flush_full(NameId name);
    void flush_later(NameId name);
    void note_held(SliceStats &stats);
    void replay(NameId name, SliceStats &stats);
    void add_row(SliceStats &stats, std::span<const BatchedSlice> row);
    void add_run(SliceStats &stats, std::span<const BatchedSlice> run);
    void add_long(SliceStats &stats, NameId name, const BatchedSlice &one,
                  const BatchedSlice &times);
    void add_batched(SliceStats &stats, const BatchedSlice &one);
    void add_batched_self(SliceStats &stats, const BatchedSlice &one);
    void end_batched_self(SliceStats &stats);
    void drain(SliceStats &stats);

    const Correction &correction_;
    size_t counters_;
    bool is_stepping_;
    bool is_counting_; // every START and STOP should have counters
    uint64_t seen_ = 0;
    size_t tallies_left_ = kMaxTallies;
    size_t slice_names_ = 0;
    bool is_batching_ = false;
    BatchShapes shapes_;
    Batches batches_;
    size_t held_bytes_ = 0, max_held_bytes_ = kMaxHeldBytes;
    bool is_spilling_ = false, has_spilled_ = false;
    SpillFile spill_;
    Unit unit_again_;              // stand-in unit of a slice that is replayed
    std::array<NameId, 2> full_{}; // full rows whose statistics are being prefetched
    Table<SliceStats> slices_;
    NameId placed_names_ = 0;
    std::vector<LeavesPlace> leaves_places_; // by name, below placed_names_, and leaves
    Table<UnitStats> units_;
    Table<MarkStats> marks_;
};

inline void StatsCollector::slice(const Slice &slice)
{
    if (is_batching_) [[unlikely]] {
        if (!can_be_batched(slice) || !add_to_batch(slice))
            add_unbatched(slice);
        return;
    }
    add_one(at(slices_, slice.name), slice);
}

inline void StatsCollector::add_one(SliceStats &stats, const Slice &slice)
{
    if (slice.is_migrated || slice.spans_loss || slice.is_crossed) [[unlikely]]
        return add_left_out(stats, slice);
    if (slice.counters && is_stepping_) [[unlikely]]
        ++stats.stepped;
    else
        add_time(stats, slice);
    if (slice.is_interrupted) [[unlikely]]
        ++stats.interrupted;
    if (slice.counters) [[unlikely]]
        add_counters(stats, slice);
    else if (is_counting_)
        ++stats.uncounted;
}

inline void StatsCollector::add_time(SliceStats &stats, const Slice &slice)
{
    const Taken taken = slice.interruptions ? take_interruptions(stats, slice) : Taken{};
    const bool is_short = uint64_t(slice.raw_ticks) < Tally::kTicks && !slice.interruptions;
    const Shape shape{slice.inside, slice.cpu_index, slice.unit != nullptr, slice.children > 0,
                      slice.programs};
    const auto subtracted = [&] {
        return -net_of(0, slice.inside, correction_.of(slice.cpu_index, 0), slice.programs);
    };
    Tally *const tally = is_short ? stats.tallies.find(shape, tallies_left_, subtracted) : nullptr;
    if (tally) [[likely]]
        ++tally->counts[size_t(slice.raw_ticks)];
    else
        add_ticks(stats, slice, taken);
    if (slice.children > 0) {
        if (tally && tally->self.is_of(slice)) [[likely]]
            tally->self.add(slice);
        else
            begin_self_run(stats, slice, tally, taken);
    }
    add_net(stats, slice.name,
            double(slice.raw_ticks) - (tally ? tally->subtracted : subtracted()) - taken.all,
            slice.unit);
}

inline void StatsCollector::add_net(SliceStats &stats, NameId name, double net, Unit *unit)
{
    stats.ticks.net_blocks.add(net);
    if (!unit)
        return;
    if (!stats.ticks.per_unit.go_to(unit->serial)) [[unlikely]]
        begin_unit(stats, name, *unit);
    stats.ticks.per_unit.add(net);
}

// Counts slices like the one before them; the first one of a shape or run is left to slice().
[[gnu::always_inline]] inline bool StatsCollector::plain(const PlainSlice &slice)
{
    if (is_batching_ || is_counting_ || uint64_t(slice.raw_ticks) >= Tally::kTicks ||
        !slice_stats(slice.name)) [[unlikely]]
        return false;
    SliceStats &stats = *slices_[slice.name];
    Tally *const tally = stats.tallies.guess(
        {slice.inside, slice.cpu_index, slice.unit != nullptr, slice.children > 0});
    if (!tally) [[unlikely]]
        return false;
    if (slice.children > 0) {
        if (!tally->self.is_of(slice)) [[unlikely]]
            return false;
        tally->self.add(slice);
    }
    ++tally->counts[size_t(slice.raw_ticks)];
    add_net(stats, slice.name, double(slice.raw_ticks) - tally->subtracted, slice.unit);
    return true;
}

// The same, with the place where the last slice of the name with as many leaves was counted.
[[gnu::always_inline]] inline bool StatsCollector::leaves(const LeavesSlice &slice)
{
    if (uint64_t(slice.raw_ticks) >= Tally::kTicks) [[unlikely]]
        return false;
    const bool is_in_unit = slice.unit != nullptr;
    const uint64_t key = uint64_t{slice.leaves} << 32 | slice.cpu_index << 1 | is_in_unit;
    const LeavesPlace *place = nullptr;
    if (slice.name < placed_names_) [[likely]]
        place = &leaves_places_[slice.name * kLeavesPlaces + slice.leaves % kLeavesPlaces];
    if (!place || place->key != key) [[unlikely]] {
        const Shape shape{
            {.ends = 2 * slice.leaves}, slice.cpu_index, is_in_unit, slice.leaves > 0};
        place = find_leaves(slice.name, shape, key);
        if (!place)
            return false;
    }
    Tally &tally = *place->tally;
    if (slice.leaves > 0) {
        if (!tally.self.is_of(slice)) [[unlikely]]
            return false;
        tally.self.add(slice);
    }
    ++tally.counts[size_t(slice.raw_ticks)];
    add_net(*place->stats, slice.name, double(slice.raw_ticks) - tally.subtracted, slice.unit);
    return true;
}
} // namespace nsdump
