// SPDX-License-Identifier: MIT
// analyse: slices of a trace with very many names -> counts by value, and what depends on their order.
#include "analyse/batch.hpp"

#include <sys/mman.h>

#include "analyse/stats.hpp"

namespace nsdump
{
void Batches::grow(NameId name)
{
    while (blocks_.size() <= name / kBlockRows) {
        blocks_.push_back(std::make_unique_for_overwrite<Block>());
        madvise(blocks_.back().get(), sizeof(Block), MADV_HUGEPAGE); // no harm where it fails
    }
    counts_.resize(blocks_.size() * kBlockRows);
    lines_.resize(counts_.size());
}

// From now on.  What was tallied joins the rest.
void StatsCollector::begin_batching()
{
    is_batching_ = true;
    tallies_left_ = 0;
    for (const auto &stats : slices_)
        if (stats)
            end_tallies(*stats);
}

bool StatsCollector::add_to_batch(const Slice &slice)
{
    const std::size_t shape = shapes_.id_of(slice);
    if (shape == BatchShapes::kMax) [[unlikely]]
        return false;
    const std::size_t count = batches_.count(slice.name);
    if (count == 0) [[unlikely]]
        at(slices_, slice.name); // in the order of the first ones
    else if (count == Batches::kSlices) [[unlikely]]
        flush(slice.name);
    const bool is_first = slice.unit && slice.unit->seen.note(slice.name, kTicksSeen) != 0;
    batches_.append(slice.name, BatchedSlice(slice, shape, is_first));
    if (count + 1 == Batches::kSlices) [[unlikely]]
        flush_later(slice.name);
    return true;
}

// When two more rows are full: until then what it needs comes to the cache, first what tells where the rest is.
void StatsCollector::flush_later(NameId name)
{
    flush(full_[1]);
    full_[1] = full_[0];
    full_[0] = name;
    slices_[name]->prefetch();
    if (batches_.count(full_[1]) == Batches::kSlices) {
        slices_[full_[1]]->prefetch_all();
        batches_.prefetch_row(full_[1]);
    }
}

void StatsCollector::flush(NameId name)
{
    const std::size_t count = batches_.count(name);
    if (count == 0)
        return;
    SliceStats &stats = *slices_[name];
    const BatchedSlice *const row = batches_.row(name);
    stats.values.prefetch(); // again: for the second loop
    for (std::size_t i = 0; i < count; ++i)
        add_batched(stats, row[i]);
    for (std::size_t i = 0; i < count; ++i)
        if (!stats.values.add(row[i].shape(), row[i].raw_ticks())) [[unlikely]] {
            drain(stats);
            stats.values.add(row[i].shape(), row[i].raw_ticks());
        }
    batches_.clear(name);
}

// What depends on the order of slices, and what ValueCounts does not tell.
void StatsCollector::add_batched(SliceStats &stats, const BatchedSlice &one)
{
    FieldStats &ticks = stats.ticks;
    const BatchShape &shape = shapes_[one.shape()];
    stats.interrupted += one.is_interrupted();
    if (shape.children > 0)
        add_batched_self(stats, one, shape);
    const double net = one.raw_ticks() - shape.subtracted;
    ticks.net_blocks.add(1, net);
    if (one.unit_serial() == 0)
        return;
    ticks.packets += one.packets();
    if (!ticks.per_unit.has(one.unit_serial()))
        ticks.per_unit.begin(one.unit_serial(), one.packets());
    ticks.per_unit.add(one.unit_serial(), net);
}

void StatsCollector::add_batched_self(SliceStats &stats, const BatchedSlice &one, const BatchShape &shape)
{
    const double self = static_cast<double>(one.raw_ticks()) - one.child_ticks() - shape.self_subtracted;
    if (stats.self_run.count > 0 && stats.self_shape == one.shape()) [[likely]]
        return stats.self_run.add(self);
    end_batched_self(stats);
    stats.self_shape = static_cast<std::uint16_t>(one.shape());
    stats.self_run = {shape.children, shape.in_children, shape.self_subtracted, self, 1};
}

void StatsCollector::end_batched_self(SliceStats &stats)
{
    if (stats.self_run.count > 0)
        end_self_run(stats, shapes_[stats.self_shape].shape, stats.self_run);
    stats.self_run = {};
}

// What was counted goes where it would have gone one by one.
void StatsCollector::drain(SliceStats &stats)
{
    stats.values.each([&](std::size_t shape, std::uint32_t ticks, std::uint64_t count) { add_counted(stats, shapes_[shape].shape, ticks, count); });
    stats.values.clear();
}
} // namespace nsdump
