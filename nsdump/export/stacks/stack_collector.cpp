// SPDX-License-Identifier: MIT
// stacks: slices in the order of their STOPs -> a tree of stacks.
#include "export/stacks/stack_collector.hpp"

#include <algorithm>
#include <utility>

namespace nsdump
{
namespace
{
constexpr uint32_t kNotChosen = ~uint32_t{0};
} // namespace

void StackCollector::take(const Slice &slice, const ThreadState &thread, bool is_kernel)
{
    if (threads_.size() > 2 * PairState::kMaxThreads) // only a hostile trace has so many
        threads_.clear();
    Levels &levels = threads_[uint64_t{is_kernel} << 32 | thread.id];
    if (levels.size() < size_t{slice.depth} + 2)
        levels.resize(size_t{slice.depth} + 2);
    const std::span<const OpenSlice> around(thread.frames.data(), slice.depth);
    const double inside = take_inside(levels, slice);
    const uint32_t place = place_of(levels, slice, around);
    const bool is_chosen =
        place != kNotChosen && slice.stop_ticks >= from_ticks_ && selection_.is_in_unit(slice.unit);
    const SliceWeight value = weight_of(weight_, correction_, slice, is_kernel);
    const bool is_in = is_chosen && is_counted(slice, value);
    if (is_in)
        tree_.add(place, value.value - inside, value.raw);
    if (!is_interrupt(slice.name))
        add_inside(levels, slice.depth, around, is_in ? value.value : inside);
}

bool StackCollector::is_counted(const Slice &slice, const SliceWeight &value)
{
    if (slice.is_migrated)
        ++left_out_.migrated;
    else if (slice.spans_loss)
        ++left_out_.spans_loss;
    else if (slice.is_crossed)
        ++left_out_.crossed;
    else if (!value.is_known)
        ++left_out_.without_value;
    else
        return true;
    return false;
}

uint32_t StackCollector::place_at(Level &level, uint32_t around, NameId name, uint64_t start_ticks)
{
    // Most frames were already there when the last slice ended.
    if (level.start_ticks != start_ticks || level.name != name || level.around != around) {
        level.start_ticks = start_ticks;
        level.name = name;
        level.around = around;
        level.place = tree_.inside(around, name);
    }
    return level.place;
}

// The node of its stack: the unit, the frames around it, the slice itself.  An interrupt does not
// belong to what it interrupts.
uint32_t StackCollector::place_of(Levels &levels, const Slice &slice,
                                  std::span<const OpenSlice> around)
{
    const auto name_at = [&](size_t depth) {
        return depth < around.size() ? around[depth].name : slice.name;
    };
    const auto begins = [&](size_t depth) {
        return selection_.is_by_name() ? selection_.has_name(name_at(depth))
                                       : is_interrupt(name_at(depth));
    };
    size_t first = 0;
    if (!selection_.is_by_name()) { // the last interrupt
        for (size_t depth = around.size() + 1; depth-- > 0 && first == 0;)
            first = begins(depth) ? depth : 0;
    } else { // the first slice with the name
        while (first <= around.size() && !begins(first))
            ++first;
        if (first > around.size())
            return kNotChosen;
    }
    uint32_t place = StackTree::kRoot;
    if (slice.unit && !selection_.is_by_name())
        place = tree_.inside(place, slice.unit->name, true);
    for (size_t depth = first; depth < around.size(); ++depth)
        place = place_at(levels[depth], place, around[depth].name, around[depth].start_ticks);
    return place_at(levels[slice.depth], place, slice.name, slice.start_ticks);
}

// The sum of what is inside.  Slices that are deeper than one level belong to frames without a
// STOP.
double StackCollector::take_inside(Levels &levels, const Slice &slice)
{
    double inside = 0;
    for (size_t depth = slice.depth + 1; depth < levels.size(); ++depth) {
        Level &level = levels[depth];
        if (level.owner_ticks >= slice.start_ticks)
            inside += level.inside;
        level.inside = 0;
    }
    return inside;
}

void StackCollector::add_inside(Levels &levels, size_t depth, std::span<const OpenSlice> around,
                                double value)
{
    if (depth == 0)
        return;
    Level &level = levels[depth];
    const uint64_t owner_ticks = around[depth - 1].start_ticks;
    if (level.owner_ticks != owner_ticks) {
        // The frame that had them ended without a STOP: they are in the one around it.
        const bool is_around = depth > 1 && level.owner_ticks >= around[depth - 2].start_ticks;
        const double left = std::exchange(level.inside, 0);
        if (is_around && left != 0)
            add_inside(levels, depth - 1, around, left);
        level.owner_ticks = owner_ticks;
    }
    level.inside += value;
}
} // namespace nsdump
