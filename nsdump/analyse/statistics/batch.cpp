// SPDX-License-Identifier: MIT
// analyse: slices of a trace with very many names -> counts by value, and order-dependent sums.
#include "analyse/statistics/batch.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "analyse/statistics/stats.hpp"

namespace nsdump
{
void Batches::grow(NameId name)
{
    while (blocks_.size() <= name >> block_bits_) {
        blocks_.push_back(std::make_unique_for_overwrite<Block>());
        madvise(blocks_.back().get(), sizeof(Block), MADV_HUGEPAGE); // failure is harmless
    }
    counts_.resize(blocks_.size() << block_bits_);
    lines_.resize(counts_.size());
}

// Switches to batching.  Slices that were tallied are added to the statistics.
void StatsCollector::begin_batching()
{
    is_batching_ = true;
    tallies_left_ = 0;
    forget_places();
    for (const auto &stats : slices_)
        if (stats)
            end_tallies(*stats);
}

bool StatsCollector::add_to_batch(const Slice &slice)
{
    const bool is_short = BatchedSlice::is_short(slice);
    if (!is_short && !is_spilling_) [[unlikely]]
        return false;
    const size_t shape = shapes_.id_of(slice);
    if (shape == BatchShapes::kMax) [[unlikely]]
        return false;
    if (batches_.count(slice.name) == 0) [[unlikely]]
        at(slices_, slice.name); // creates the entry in order of first appearance
    const bool is_first = slice.unit && slice.unit->seen.note(slice.name, kTicksSeen) != 0;
    if (is_short) [[likely]]
        append(slice.name, BatchedSlice(slice, shape, is_first));
    else
        append_long(slice, shape, is_first);
    return true;
}

void StatsCollector::add_unbatched(const Slice &slice)
{
    const bool is_left_out = slice.is_migrated || slice.spans_loss || slice.is_crossed;
    if (!has_spilled_ || !is_left_out || slice.counters)
        flush(slice.name); // adds the earlier slices first
    SliceStats &stats = at(slices_, slice.name);
    add_one(stats, slice);
    note_held(stats);
}

inline void StatsCollector::append(NameId name, const BatchedSlice &one)
{
    const size_t count = batches_.count(name);
    if (count == batches_.slices()) [[unlikely]]
        flush_full(name);
    batches_.append(name, one);
    if (count + 1 == batches_.slices()) [[unlikely]]
        flush_later(name);
}

// Puts both places in the same row.
void StatsCollector::append_long(const Slice &slice, size_t shape, bool is_first)
{
    if (batches_.count(slice.name) == batches_.slices() - 1)
        append(slice.name, BatchedSlice::nothing());
    append(slice.name, BatchedSlice::long_one(slice, shape, is_first));
    append(slice.name, BatchedSlice::times(slice));
}

// Defers the flush until two more rows are full.  Meanwhile the data it needs is prefetched, first
// the parts that point to the rest.
void StatsCollector::flush_later(NameId name)
{
    if (is_spilling_)
        return flush_full(name);
    flush_full(full_[1]);
    full_[1] = full_[0];
    full_[0] = name;
    slices_[name]->prefetch();
    if (batches_.count(full_[1]) == batches_.slices()) {
        slices_[full_[1]]->prefetch_all();
        batches_.prefetch_row(full_[1]);
    }
}

void StatsCollector::flush_full(NameId name)
{
    if (is_spilling_ && batches_.count(name) == batches_.slices()) {
        if (spill_.append(name, batches_.row(name)))
            return batches_.clear(name);
        is_spilling_ = false; // cannot be written: keep everything in memory from now on
        max_held_bytes_ = SIZE_MAX;
    }
    flush(name);
}

void StatsCollector::flush(NameId name)
{
    const size_t count = batches_.count(name);
    if (count > 0 || spill_.has(name)) {
        SliceStats &stats = *slices_[name];
        if (has_spilled_) [[unlikely]]
            replay(name, stats);
        else
            add_row(stats, {batches_.row(name), count});
        batches_.clear(name);
        note_held(stats);
    }
}

void StatsCollector::note_held(SliceStats &stats)
{
    const size_t bytes = stats.bytes();
    held_bytes_ += bytes - stats.held_bytes;
    stats.held_bytes = bytes;
    if (held_bytes_ > max_held_bytes_) [[unlikely]]
        is_spilling_ = has_spilled_ = true;
}

void StatsCollector::add_row(SliceStats &stats, std::span<const BatchedSlice> row)
{
    for (; !row.empty(); row = row.subspan(std::min(row.size(), Batches::kRun)))
        add_run(stats, row.first(std::min(row.size(), Batches::kRun)));
}

void StatsCollector::add_run(SliceStats &stats, std::span<const BatchedSlice> run)
{
    stats.prefetch(); // again: data prefetched earlier may have left the L1 cache
    stats.prefetch_all();
    std::array<uint8_t, Batches::kRun> with_children; // filled branch-free
    size_t count = 0;
    for (size_t i = 0; i < run.size(); ++i) {
        with_children[count] = uint8_t(i);
        count += shapes_[run[i].shape()].children > 0;
        add_batched(stats, run[i]);
    }
    for (size_t i = 0; i < count; ++i)
        add_batched_self(stats, run[with_children[i]]);
    for (const BatchedSlice &one : run)
        if (!stats.values.add(one.shape(), one.raw_ticks())) [[unlikely]] {
            drain(stats);
            stats.values.add(one.shape(), one.raw_ticks());
        }
}

// Adds the spilled slices, then the rest.
void StatsCollector::replay(NameId name, SliceStats &stats)
{
    std::array<BatchedSlice, Batches::kRun> run; // short slices only
    size_t count = 0;
    const auto end_run = [&] { add_run(stats, {run.data(), std::exchange(count, 0)}); };
    const auto add = [&](std::span<const BatchedSlice> row) {
        for (size_t i = 0; i < row.size(); ++i) {
            if (row[i].is_nothing())
                continue;
            if (row[i].is_long()) {
                end_run();
                add_long(stats, name, row[i], row[i + 1]);
                ++i;
                continue;
            }
            run[count++] = row[i];
            if (count == run.size())
                end_run();
        }
    };
    spill_.take(name, [&](const void *row) {
        add({static_cast<const BatchedSlice *>(row), batches_.slices()});
    });
    add({batches_.row(name), batches_.count(name)});
    end_run();
}

void StatsCollector::add_long(SliceStats &stats, NameId name, const BatchedSlice &one,
                              const BatchedSlice &times)
{
    const BatchShape &shape = shapes_[one.long_shape()];
    Slice slice{};
    slice.name = name;
    slice.cpu_index = shape.shape.cpu_index;
    slice.raw_ticks = times.long_raw_ticks();
    slice.child_ticks = times.long_child_ticks();
    slice.children = shape.children;
    slice.inside = shape.shape.inside;
    slice.in_children = shape.in_children;
    slice.is_interrupted = one.is_interrupted();
    if (one.unit_serial() != 0) {
        unit_again_.serial = one.unit_serial();
        unit_again_.packets = one.packets();
        unit_again_.seen.clear(); // packets() is 0 for all but the first slice of a name
        slice.unit = &unit_again_;
    }
    add_one(stats, slice);
}

// Adds to the sums that depend on the order of slices.
void StatsCollector::add_batched(SliceStats &stats, const BatchedSlice &one)
{
    FieldStats &ticks = stats.ticks;
    const BatchShape &shape = shapes_[one.shape()];
    stats.interrupted += one.is_interrupted();
    const double net = one.raw_ticks() - shape.subtracted;
    ticks.net_blocks.add(net);
    if (one.unit_serial() == 0)
        return;
    ticks.packets += one.packets();
    if (!ticks.per_unit.go_to(one.unit_serial()))
        ticks.per_unit.begin(one.unit_serial(), one.packets());
    ticks.per_unit.add(net);
}

void StatsCollector::add_batched_self(SliceStats &stats, const BatchedSlice &one)
{
    const BatchShape &shape = shapes_[one.shape()];
    const double self = double(one.raw_ticks()) - one.child_ticks() - shape.self_subtracted;
    if (stats.self_run.count > 0 && stats.self_shape == one.shape()) [[likely]]
        return stats.self_run.add(self);
    end_batched_self(stats);
    stats.self_shape = uint16_t(one.shape());
    stats.self_run = {shape.children, {}, shape.in_children, shape.self_subtracted, self, 1};
}

void StatsCollector::end_batched_self(SliceStats &stats)
{
    if (stats.self_run.count > 0)
        end_self_run(stats, shapes_[stats.self_shape].shape, stats.self_run);
    stats.self_run = {};
}

// Adds the counted slices to the statistics.
void StatsCollector::drain(SliceStats &stats)
{
    stats.values.each([&](size_t shape, uint32_t ticks, uint64_t count) {
        add_counted(stats, shapes_[shape].shape, ticks, count);
    });
    stats.values.clear();
}
} // namespace nsdump
