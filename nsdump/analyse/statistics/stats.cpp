// SPDX-License-Identifier: MIT
// analyse: slices -> statistics by name; everything outside the fast path of an ordinary slice.
#include "analyse/statistics/stats.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace nsdump
{
namespace
{
struct Value {
    double raw;
    uint64_t count; // slices with this raw value
    bool is_in_unit;
    ProgramCounts programs = {}; // as of Slice
    double taken = 0;            // subtracted from the net value for interruptions
};

void add_value(FieldStats &stats, const FieldConstants &constants, const ProbeCounts &inside,
               const Value &value)
{
    const double n = double(value.count);
    stats.count += value.count;
    stats.raw.add(value.raw, value.count, stats.count);
    stats.raw_histogram.add(value.raw, value.count);
    if (value.is_in_unit) {
        stats.unit_count += value.count;
        stats.unit_raw += n * value.raw;
    }
    if (!constants.is_known)
        return;
    stats.net_count += value.count;
    const double net = net_of(value.raw, inside, constants, value.programs) - value.taken;
    stats.net.add(net, value.count, stats.net_count);
    stats.net_histogram.add(net, value.count);
    stats.below_noise += net <= 0 ? value.count : 0;
    stats.net_errors.add(constants,
                         subtracted_error(1, inside, constants, value.programs).times(n));
    if (value.is_in_unit)
        stats.unit_net += n * net;
}

// Error of the interruptions that do not lie in a slice inside.
SubtractedError own_error(const Interruptions &all, const Interruptions &in_children,
                          const FieldConstants &kernel)
{
    return subtracted_error(all.interrupts - in_children.interrupts,
                            own_probes(all.probes, in_children.probes), kernel,
                            all.programs - in_children.programs);
}

WayCounts own_ways(const Interruptions &all, const Interruptions &in_children)
{
    WayCounts own = all.ways;
    return own -= in_children.ways;
}

// Counts of slices that are not recorded by macros.
Taken taken_ways(const Slice &slice, const WayTable &ways, double inner)
{
    if (!slice.interruptions)
        return {};
    return {way_cost(slice.interruptions->ways, ways, inner),
            way_cost(slice.interruptions_in_children->ways, ways, inner)};
}

// Counts of the interrupts inside a kernel slice.
Taken taken_counter(const Slice &slice, size_t counter, const FieldConstants &kernel)
{
    if (!slice.interrupt_counters)
        return {};
    return {taken_of(*slice.interruptions, double(slice.interrupt_counters[counter]), kernel),
            taken_of(*slice.interruptions_in_children,
                     double(slice.interrupt_counters_in_children[counter]), kernel)};
}

double self_of(const Slice &slice, size_t counter, const FieldConstants &constants)
{
    ChildSums children;
    children.add(double(slice.child_counters[counter]), slice.children, slice.in_children);
    children.programs = slice.programs_in_children;
    const double raw = double(slice.counters[counter]);
    return net_of(raw, slice.inside, constants, slice.programs) - children_net(children, constants);
}

void note_self(FieldStats &stats, const FieldConstants &constants, const SelfInside &inside,
               uint64_t count)
{
    const SubtractedError error =
        subtracted_error(std::fabs(inside.inners()), inside.own, constants, inside.programs);
    stats.self_errors.add(constants, error.times(double(count)));
    stats.self_count += count;
}

void add_self(FieldStats &stats, const FieldConstants &constants, double self,
              const SelfInside &inside, const Value &value)
{
    if (!constants.is_known)
        return;
    note_self(stats, constants, inside, value.count);
    stats.self.add(self, value.count, stats.self_count);
    if (value.is_in_unit)
        stats.unit_self += double(value.count) * self;
}
} // namespace

template <class Stats> Stats &StatsCollector::add_to(Table<Stats> &table, NameId name)
{
    if (name >= table.size())
        table.resize(name + 1);
    table[name] = std::make_unique<Stats>();
    table[name]->first_seen = ++seen_;
    if constexpr (std::is_same_v<Stats, SliceStats>) {
        if (++slice_names_ == kMaxTalliedNames)
            begin_batching();
    }
    return *table[name];
}
template SliceStats &StatsCollector::add_to(Table<SliceStats> &table, NameId name);

Taken StatsCollector::take_interruptions(SliceStats &stats, const Slice &slice)
{
    const FieldConstants &kernel = correction_.of(slice.kernel_index, 0);
    const Interruptions &all = *slice.interruptions,
                        &in_children = *slice.interruptions_in_children;
    const WayTable &ways = correction_.ways_of(slice.cpu_index, 0);
    const double inner = correction_.of(slice.cpu_index, 0).inner;
    Taken taken = {taken_ticks(all, kernel), taken_ticks(in_children, kernel)};
    stats.taken_ticks += taken.all;
    taken.all += way_cost(all.ways, ways, inner);
    taken.in_children += way_cost(in_children.ways, ways, inner);
    stats.interrupts += all.interrupts;
    stats.switches += all.switches;
    stats.ticks.net_errors.add(kernel,
                               subtracted_error(all.interrupts, all.probes, kernel, all.programs));
    stats.ticks.self_errors.add(kernel, own_error(all, in_children, kernel));
    add_way_errors(stats.ticks.net_errors, all.ways, ways);
    add_way_errors(stats.ticks.self_errors, own_ways(all, in_children), ways);
    return taken;
}

void StatsCollector::add_ticks(SliceStats &stats, const Slice &slice, const Taken &taken)
{
    const FieldConstants &constants = correction_.of(slice.cpu_index, 0);
    const double raw = double(slice.raw_ticks);
    const Value value{raw, 1, slice.unit != nullptr, slice.programs, taken.all};
    add_value(stats.ticks, constants, slice.inside, value);
    if (slice.children == 0)
        add_self(stats.ticks, constants,
                 net_of(raw, slice.inside, constants, slice.programs) - taken.all,
                 {slice.inside, 0, slice.programs}, value);
}

void StatsCollector::begin_self_run(SliceStats &stats, const Slice &slice, Tally *tally,
                                    const Taken &taken)
{
    const FieldConstants &constants = correction_.of(slice.cpu_index, 0);
    const SelfInside inside{own_probes(slice.inside, slice.in_children), slice.children,
                            slice.programs - slice.programs_in_children};
    SelfRun run;
    run.children = slice.children;
    run.programs_in_children = slice.programs_in_children;
    run.in_children = slice.in_children;
    run.subtracted = self_subtracted(inside, constants) + taken.own();
    run.first = SelfRun::raw_self(slice) - run.subtracted;
    run.count = 1;
    run.has_only_leaves = run.in_children == ProbeCounts{} && !run.programs_in_children.any();
    if (!tally)
        return end_self_run(
            stats, {slice.inside, slice.cpu_index, slice.unit != nullptr, true, slice.programs},
            run);
    end_self_run(stats, tally->shape, tally->self);
    tally->self = run;
}

void StatsCollector::end_self_run(SliceStats &stats, const Shape &shape, const SelfRun &run)
{
    const FieldConstants &constants = correction_.of(shape.cpu_index, 0);
    if (run.count == 0 || !constants.is_known)
        return;
    FieldStats &ticks = stats.ticks;
    note_self(ticks, constants,
              {own_probes(shape.inside, run.in_children), run.children,
               shape.programs - run.programs_in_children},
              run.count);
    ticks.self.merge(run.first, run.distances, run.distance_squares, run.count, ticks.self_count);
    if (shape.is_in_unit)
        ticks.unit_self += double(run.count) * run.first + run.distances;
}

// Null if the shape was not seen lately; slice() then finds or makes its tally.
const StatsCollector::LeavesPlace *StatsCollector::find_leaves(NameId name, const Shape &shape,
                                                               uint64_t key)
{
    if (is_batching_ || is_counting_ || !slice_stats(name))
        return nullptr;
    SliceStats &stats = *slices_[name];
    Tally *const tally = stats.tallies.guess(shape);
    if (!tally)
        return nullptr;
    if (name >= placed_names_) {
        placed_names_ = name + 1;
        leaves_places_.resize(size_t{placed_names_} * kLeavesPlaces);
    }
    LeavesPlace &place =
        leaves_places_[name * kLeavesPlaces + shape.inside.ends / 2 % kLeavesPlaces];
    place = {key, tally, &stats};
    return &place;
}

void StatsCollector::forget_places()
{
    placed_names_ = 0;
    leaves_places_ = {};
}

void StatsCollector::begin_unit(SliceStats &stats, NameId name, Unit &unit)
{
    const uint64_t packets = unit.seen.note(name, kTicksSeen) ? unit.packets : 0;
    stats.ticks.packets += packets;
    stats.ticks.per_unit.begin(unit.serial, double(packets));
}

void StatsCollector::add_counters(SliceStats &stats, const Slice &slice)
{
    if (stats.counters.empty())
        stats.counters.resize(counters_);
    const bool is_first = slice.unit && slice.unit->seen.note(slice.name, kCountersSeen) != 0;
    for (size_t i = 0; i < counters_; ++i) {
        FieldStats &counter = stats.counters[i];
        const FieldConstants &constants = correction_.of(slice.cpu_index, i + 1);
        const double raw = double(slice.counters[i]);
        Taken taken = taken_counter(slice, i, constants); // kernel slices only: kernel constants
        const WayTable &way_table = correction_.ways_of(slice.cpu_index, i + 1);
        const Taken by_ways = taken_ways(slice, way_table, constants.inner);
        taken.all += by_ways.all;
        taken.in_children += by_ways.in_children;
        const Value value{raw, 1, slice.unit != nullptr, slice.programs, taken.all};
        add_value(counter, constants, slice.inside, value);
        const double net = net_of(raw, slice.inside, constants, slice.programs) - taken.all;
        if (slice.interrupt_counters) {
            const Interruptions &all = *slice.interruptions;
            counter.net_errors.add(
                constants, subtracted_error(all.interrupts, all.probes, constants, all.programs));
            counter.self_errors.add(constants,
                                    own_error(all, *slice.interruptions_in_children, constants));
        }
        if (slice.interruptions) {
            const Interruptions &all = *slice.interruptions,
                                &in_children = *slice.interruptions_in_children;
            add_way_errors(counter.net_errors, all.ways, way_table);
            add_way_errors(counter.self_errors, own_ways(all, in_children), way_table);
        }
        if (slice.children == 0)
            add_self(counter, constants, net, {slice.inside, 0, slice.programs}, value);
        else if (slice.child_counters)
            add_self(counter, constants, self_of(slice, i, constants) - taken.own(),
                     {own_probes(slice.inside, slice.in_children), slice.children,
                      slice.programs - slice.programs_in_children},
                     value);
        counter.net_blocks.add(net);
        if (!slice.unit)
            continue;
        const uint64_t packets = is_first ? slice.unit->packets : 0;
        counter.packets += packets;
        if (!counter.per_unit.go_to(slice.unit->serial))
            counter.per_unit.begin(slice.unit->serial, double(packets));
        counter.per_unit.add(net);
    }
}

// Counters belong to the thread, so they remain valid if it moves to another CPU; a time measured
// with the clocks of two CPUs is not valid.  Neither is valid for a slice across a loss, whose
// contents are unknown, or for a crossed slice, which contains part of another.
void StatsCollector::add_left_out(SliceStats &stats, const Slice &slice)
{
    if (slice.is_crossed) {
        ++stats.crossed;
        return;
    }
    stats.migrated += slice.is_migrated;
    stats.spans_loss += !slice.is_migrated;
    if (slice.is_migrated && !slice.spans_loss && slice.counters)
        add_counters(stats, slice);
}

// Adds `count` slices of the same shape and raw time.
void StatsCollector::add_counted(SliceStats &stats, const Shape &shape, uint32_t raw_ticks,
                                 uint64_t count)
{
    const FieldConstants &constants = correction_.of(shape.cpu_index, 0);
    const double raw = double(raw_ticks);
    const Value value{raw, count, shape.is_in_unit, shape.programs};
    add_value(stats.ticks, constants, shape.inside, value);
    if (!shape.has_children)
        add_self(stats.ticks, constants, net_of(raw, shape.inside, constants, shape.programs),
                 {shape.inside, 0, shape.programs}, value);
}

void StatsCollector::add_tally(SliceStats &stats, const Tally &tally)
{
    for (uint32_t ticks = 0; ticks < Tally::kTicks; ++ticks)
        if (tally.counts[ticks] > 0)
            add_counted(stats, tally.shape, ticks, tally.counts[ticks]);
    end_self_run(stats, tally.shape, tally.self);
}

void StatsCollector::end_tallies(SliceStats &stats)
{
    for (const auto &tally : stats.tallies.all())
        add_tally(stats, *tally);
    stats.tallies.clear();
}

void StatsCollector::finish(NameId name)
{
    SliceStats &stats = *slices_[name];
    flush(name);
    drain(stats);
    end_batched_self(stats);
    end_tallies(stats);
    stats.ticks.per_unit.finish();
    for (FieldStats &counter : stats.counters)
        counter.per_unit.finish();
}

void StatsCollector::finish()
{
    forget_places();
    for (NameId name = 0; name < slices_.size(); ++name)
        if (slices_[name])
            finish(name);
}

std::unique_ptr<SliceStats> StatsCollector::take(NameId name)
{
    forget_places();
    finish(name);
    return std::move(slices_[name]);
}

void StatsCollector::unit(const Unit &unit)
{
    UnitStats &stats = at(units_, unit.name);
    ++stats.units;
    stats.packets += unit.packets;
    stats.wire_bytes += unit.wire_bytes;
}

void StatsCollector::mark(NameId name, uint64_t value)
{
    MarkStats &stats = at(marks_, name);
    ++stats.count;
    stats.min = std::min(stats.min, value);
    stats.max = std::max(stats.max, value);
    stats.sum += double(value);
}
} // namespace nsdump
