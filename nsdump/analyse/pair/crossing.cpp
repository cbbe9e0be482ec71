// SPDX-License-Identifier: MIT
// analyse: slices of one thread that overlap without nesting.
#include "analyse/pair/crossing.hpp"

#include <algorithm>

namespace nsdump
{
HeldSlice::HeldSlice(const Slice &ended, size_t counter_count)
    : slice(ended), unit_serial(ended.unit ? ended.unit->serial : 0),
      has_interruptions(ended.interruptions != nullptr),
      has_interrupt_counters(ended.interrupt_counters != nullptr),
      has_counters(ended.counters != nullptr), has_child_counters(ended.child_counters != nullptr)
{
    if (has_counters)
        std::copy_n(ended.counters, counter_count, counters.begin());
    if (has_child_counters)
        std::copy_n(ended.child_counters, counter_count, child_counters.begin());
    if (has_interruptions) {
        all = *ended.interruptions;
        in_children = *ended.interruptions_in_children;
    }
    if (has_interrupt_counters) {
        std::copy_n(ended.interrupt_counters, counter_count, interrupt_counters.all.begin());
        std::copy_n(ended.interrupt_counters_in_children, counter_count,
                    interrupt_counters.in_children.begin());
    }
}

const Slice &HeldSlice::given(Unit *unit)
{
    slice.unit = unit;
    slice.counters = has_counters ? counters.data() : nullptr;
    slice.child_counters = has_child_counters ? child_counters.data() : nullptr;
    slice.interruptions = has_interruptions ? &all : nullptr;
    slice.interruptions_in_children = has_interruptions ? &in_children : nullptr;
    slice.interrupt_counters = has_interrupt_counters ? interrupt_counters.all.data() : nullptr;
    slice.interrupt_counters_in_children =
        has_interrupt_counters ? interrupt_counters.in_children.data() : nullptr;
    return slice;
}

void Crossings::suspect(const OpenSlice &frame)
{
    uint32_t place = 0;
    while (place < kMaxSuspects && suspected & 1u << place)
        ++place;
    if (place == kMaxSuspects)
        return;
    if (place == suspects.size())
        suspects.emplace_back();
    suspects[place] = {frame, ~uint32_t{0}};
    suspected |= 1u << place;
}

uint32_t Crossings::find(NameId name) const
{
    for (uint32_t place = 0; place < suspects.size(); ++place)
        if (suspected & 1u << place && suspects[place].frame.name == name)
            return place;
    return kMaxSuspects;
}

uint32_t Crossings::enclosed_by(uint32_t depth)
{
    uint32_t enclosed = 0;
    for (uint32_t place = 0; place < suspects.size(); ++place) {
        if (!(suspected & 1u << place) || suspects[place].low_depth <= depth)
            continue;
        suspects[place].low_depth = depth;
        enclosed |= 1u << place;
    }
    return enclosed;
}
} // namespace nsdump
