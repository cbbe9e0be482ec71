// SPDX-License-Identifier: MIT
// analyse: events -> slices; STARTs and STOPs without a partner, and slices that cross.
#include "analyse/pair/pair.hpp"

#include <algorithm>

namespace nsdump
{
void PairState::start_with_care(ThreadState &thread, NameId name)
{
    if (thread.has_lossy_slices)
        drop_restarted(thread, name);
    if (thread.is_undecided()) // a suspect that starts again had lost its STOP
        if (const uint32_t place = thread.crossings->find(name); place < Crossings::kMaxSuspects)
            settle(thread, 1u << place, false);
    look_for_care(thread);
}

bool PairState::stop_with_care(ThreadState &thread, Slice &slice)
{
    slice.is_crossed = thread.frames[slice.depth].is_crossed;
    const uint32_t waits = thread.is_undecided() ? thread.crossings->enclosed_by(slice.depth) : 0;
    const bool is_held = waits != 0 && !slice.is_crossed && !slice.spans_loss && held_ < kMaxHeld;
    if (is_held) {
        thread.crossings->held.emplace_back(slice, counters_).waits = waits;
        ++held_;
    }
    look_for_care(thread);
    return !is_held;
}

void PairState::look_for_care(ThreadState &thread)
{
    const auto is_crossed = [](const OpenSlice &frame) { return frame.is_crossed; };
    thread.needs_care =
        thread.has_lossy_slices || thread.is_undecided() ||
        std::any_of(thread.frames.begin(), thread.frames.begin() + thread.depth, is_crossed);
}

void PairState::suspect_top(ThreadState &thread)
{
    const OpenSlice &frame = thread.frames[thread.depth - 1];
    if (frame.spans_loss)
        return;
    if (!thread.crossings)
        thread.crossings = std::make_unique<Crossings>();
    if (thread.crossings->find(frame.name) == Crossings::kMaxSuspects) // not yet suspected
        thread.crossings->suspect(frame);
    thread.needs_care = true;
}

// Passes on the slices that waited for these suspects and no longer wait for others.
void PairState::settle(ThreadState &thread, uint32_t suspects, bool are_crossed)
{
    std::vector<HeldSlice> &all = thread.crossings->held;
    const auto is_settled = [&](HeldSlice &held) {
        const bool has_waited = (held.waits & suspects) != 0;
        held.waits &= ~suspects;
        if (!has_waited || (held.waits != 0 && !are_crossed))
            return false;
        held.slice.is_crossed = are_crossed;
        give(held.given(thread.open_unit(held.unit_serial)));
        --held_;
        return true;
    };
    all.erase(std::remove_if(all.begin(), all.end(), is_settled), all.end());
    thread.crossings->suspected &= ~suspects;
}

// The units from this one on end: slices that began in them cannot continue, and their packets must
// be counted now.
void PairState::settle_units(ThreadState &thread, uint64_t from_serial)
{
    if (!thread.is_undecided())
        return;
    Crossings &crossings = *thread.crossings;
    uint32_t ended = 0;
    for (uint32_t place = 0; place < crossings.suspects.size(); ++place)
        ended |= crossings.suspects[place].frame.unit_serial >= from_serial ? 1u << place : 0;
    for (HeldSlice &held : crossings.held)
        if (held.unit_serial >= from_serial)
            ended |= held.waits;
    settle(thread, ended & crossings.suspected, false);
}

void PairState::take_child_back(ThreadState &thread, const HeldSlice &held)
{
    const Slice &slice = held.slice;
    if (slice.depth == 0 || slice.depth > thread.depth || (is_kernel_ && is_interrupt(slice.name)))
        return;
    const auto subtract = [this](auto &sums, const auto &values) {
        for (size_t i = 0; i < counters_; ++i)
            sums[i] = wrapping_difference(sums[i], values[i]);
    };
    OpenSlice &parent = thread.frames[slice.depth - 1];
    --parent.children;
    parent.own += slice.inside;
    parent.in_children -= slice.inside;
    parent.programs_in_children -= slice.programs;
    parent.child_ticks = wrapping_difference(parent.child_ticks, slice.raw_ticks);
    if (held.has_interruptions)
        thread.interruptions[slice.depth - 1].in_children -= held.all;
    if (!held.has_counters || !parent.has_counters)
        return;
    --parent.counted_children;
    subtract(thread.counters[slice.depth - 1].child_sum, held.counters);
    if (held.has_interrupt_counters)
        subtract(thread.interrupt_counters[slice.depth - 1].in_children,
                 held.interrupt_counters.all);
}

// The STOP either belongs to the START of a suspect, whose slice then crosses those that ended
// inside it and those that began inside it and are still open; or it is unmatched.
bool PairState::stop_without_start(ThreadState &thread, uint32_t cpu_index, NameId name,
                                   const Event &event)
{
    if (thread.depth > 0) {
        add_ends(thread, thread.depth - 1, name, 1);
        thread.frames[thread.depth - 1].programs.calls += calls_of(event);
    }
    const uint32_t place =
        thread.is_undecided() ? thread.crossings->find(name) : Crossings::kMaxSuspects;
    if (place == Crossings::kMaxSuspects) {
        ++unpaired_.slices.of(name).unmatched_stop;
        return true;
    }
    const Suspect suspect = thread.crossings->suspects[place];
    --unpaired_.slices.of(name).unmatched_start;
    for (const HeldSlice &held : thread.crossings->held)
        if (held.waits & 1u << place && held.slice.depth == suspect.low_depth)
            take_child_back(thread, held);
    settle(thread, 1u << place, true);
    for (uint32_t i = suspect.low_depth; i < thread.depth; ++i)
        thread.frames[i].is_crossed = true;
    Slice slice{};
    slice.name = name;
    slice.cpu_index = slice.kernel_index = cpu_index;
    slice.thread_id = event.thread_id;
    slice.depth = suspect.low_depth;
    slice.start_ticks = suspect.frame.start_ticks;
    slice.stop_ticks = event.ticks;
    slice.raw_ticks = int64_t(event.ticks - suspect.frame.start_ticks);
    slice.is_migrated = suspect.frame.cpu_index != cpu_index;
    slice.is_crossed = true;
    give(slice);
    look_for_care(thread);
    return false;
}

void PairState::give_crossed_to_parent(ThreadState &thread, const Slice &slice)
{
    OpenSlice &parent = thread.frames[slice.depth - 1];
    add_ends(thread, slice.depth - 1, slice.name, 2);
    parent.own += slice.inside;
    parent.programs += slice.programs;
    parent.programs.calls += thread.frames[slice.depth].start_calls;
    if (slice.interruptions)
        add_interruptions(thread.interruptions[slice.depth - 1].all, slice);
    if (slice.interrupt_counters && parent.has_counters)
        add_counters(thread.interrupt_counters[slice.depth - 1].all, slice.interrupt_counters);
}

// These slices count as too deep, but their STARTs were executed inside the top slice.
void PairState::drop_too_deep(ThreadState &thread)
{
    const auto known = uint32_t(thread.overflow_names.size());
    for (const NameId name : thread.overflow_names)
        add_ends(thread, thread.depth - 1, name, 1);
    thread.frames[thread.depth - 1].own.ends += thread.overflow - std::min(known, thread.overflow);
    thread.overflow = 0;
    thread.overflow_names.clear();
}

bool PairState::stop_too_deep(ThreadState &thread, NameId name)
{
    std::vector<NameId> &names = thread.overflow_names;
    const OpenSlice &top = thread.frames[thread.depth - 1];
    if (thread.overflow > names.size()) { // beyond the remembered names: cannot be matched
        --thread.overflow;
        add_ends(thread, thread.depth - 1, name, 2);
        return true;
    }
    const auto found = std::find(names.rbegin(), names.rend(), name);
    if (found != names.rend()) {
        const auto without_stop = uint32_t(found - names.rbegin());
        add_ends(thread, thread.depth - 1, name, 2);
        for (auto skipped = names.rbegin(); skipped != found; ++skipped)
            add_ends(thread, thread.depth - 1, *skipped, 1);
        thread.overflow -= 1 + without_stop;
        names.resize(thread.overflow);
        return true;
    }
    if (top.name == name) // the top slice ends with its own STOP
        drop_too_deep(thread);
    return false;
}
} // namespace nsdump
