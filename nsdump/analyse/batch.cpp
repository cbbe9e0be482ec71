// SPDX-License-Identifier: MIT
// analyse: slices of a trace with very many names -> counts by value, and what depends on their order.
#include "analyse/batch.hpp"

#include <algorithm>
#include <array>

#include "analyse/stats.hpp"

namespace nsdump
{
std::size_t ValueCounts::place_of(const Shape &shape)
{
    const auto found = std::find(shapes_.begin(), shapes_.end(), shape);
    if (found != shapes_.end())
        return static_cast<std::size_t>(found - shapes_.begin());
    if (shapes_.size() == kMaxShapes)
        return kMaxShapes;
    shapes_.push_back(shape);
    return shapes_.size() - 1;
}

bool ValueCounts::grow()
{
    if (slots_.size() == kMaxSlots)
        return false;
    std::vector<Slot> before(std::max<std::size_t>(2 * slots_.size(), 32));
    before.swap(slots_);
    for (const Slot &slot : before)
        if (slot.count > 0)
            find(slot.key) = slot;
    return true;
}

void ValueCounts::clear()
{
    std::fill(slots_.begin(), slots_.end(), Slot{});
    used_ = last_ = 0;
    shapes_.clear();
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

void StatsCollector::add_to_batch(const Slice &slice)
{
    at(slices_, slice.name); // in the order of the first ones
    Unit *const unit = slice.unit;
    const bool is_first = unit && unit->seen.note(slice.name, kTicksSeen) != 0;
    const ProbeCounts &inside = slice.inside, &in_children = slice.in_children;
    batches_.append(slice.name) = {unit ? unit->serial : 0,
                                   static_cast<std::uint32_t>(slice.raw_ticks),
                                   static_cast<std::uint32_t>(slice.child_ticks),
                                   is_first ? static_cast<std::uint32_t>(unit->packets) : 0,
                                   static_cast<std::uint16_t>(slice.cpu_index),
                                   static_cast<std::uint16_t>(slice.children),
                                   static_cast<std::uint16_t>(inside.ends),
                                   static_cast<std::uint16_t>(inside.marks),
                                   static_cast<std::uint16_t>(in_children.ends),
                                   static_cast<std::uint16_t>(in_children.marks),
                                   static_cast<std::uint8_t>(inside.inits),
                                   static_cast<std::uint8_t>(inside.exits),
                                   static_cast<std::uint8_t>(in_children.inits),
                                   static_cast<std::uint8_t>(in_children.exits),
                                   slice.is_interrupted};
    if (batches_.is_full(slice.name))
        flush(slice.name);
}

void StatsCollector::flush(NameId name)
{
    const std::size_t count = batches_.count(name);
    if (count == 0)
        return;
    SliceStats &stats = *slices_[name];
    const BatchedSlice *const row = batches_.row(name);
    std::array<std::uint32_t, Batches::kSlices> keys;
    for (std::size_t i = 0; i < count; ++i)
        keys[i] = stats.values.key_of(row[i].shape(), row[i].raw_ticks);
    for (std::size_t i = 0; i < count; ++i) {
        const bool is_first_try = keys[i] != ValueCounts::kNoKey && stats.values.add(keys[i]);
        if (!is_first_try) [[unlikely]] { // all that is there, and the keys of what follows are others then
            drain(stats);
            for (std::size_t later = i; later < count; ++later)
                keys[later] = stats.values.key_of(row[later].shape(), row[later].raw_ticks);
            stats.values.add(keys[i]);
        }
        add_batched(stats, row[i]);
    }
    batches_.clear(name);
}

void StatsCollector::add_batched(SliceStats &stats, const BatchedSlice &one)
{
    FieldStats &ticks = stats.ticks;
    const FieldConstants &constants = correction_.of(one.cpu_index, 0);
    stats.interrupted += one.is_interrupted;
    if (one.children > 0)
        add_batched_self(stats, one, constants);
    const double net = net_of(one.raw_ticks, one.inside(), constants);
    ticks.net_blocks.add(1, net);
    if (one.unit_serial == 0)
        return;
    ticks.packets += one.packets;
    if (!ticks.per_unit.has(one.unit_serial))
        ticks.per_unit.begin(one.unit_serial, one.packets);
    ticks.per_unit.add(one.unit_serial, net);
}

// What was counted goes where it would have gone one by one.
void StatsCollector::drain(SliceStats &stats)
{
    stats.values.each([&](const Shape &shape, std::uint32_t ticks, std::uint64_t count) { add_counted(stats, shape, ticks, count); });
    stats.values.clear();
}
} // namespace nsdump
