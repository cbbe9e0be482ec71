// SPDX-License-Identifier: MIT
// analyse: the part of pair.hpp for the slices that most are: short ways through the pairing.  What
// is unusual about a slice is left to pair_impl.hpp.
#pragma once

#include "analyse/pair/pair.hpp"

namespace nsdump
{
// From the head of a START to that of the STOP of the same slice.
inline constexpr uint64_t kStopAfterStart = uint64_t{NSLICE_KIND_STOP - NSLICE_KIND_START}
                                            << NSLICE_HEAD_KIND_SHIFT;

inline bool PairState::may_have_plain(const ThreadState &thread) const
{
    return has_plain_ && !thread.needs_care && thread.overflow == 0 && thread.depth < kMaxDepth - 1;
}

// Whether a START and the event after it are a leaf: a slice with nothing inside.
inline bool PairState::is_leaf(const ThreadState &thread, const Event &start,
                               const Event &next) const
{
    return head_of(next) - head_of(start) == kStopAfterStart && start.kind == NSLICE_KIND_START &&
           (start.word_count == 0 || start.word_count == counters_) && may_have_plain(thread);
}

// Whether a STOP without counters ends the thread's innermost slice, as a plain one.
inline bool PairState::is_plain(const ThreadState &thread, uint32_t cpu_index, NameId name) const
{
    if (!has_plain_ || thread.needs_care || thread.overflow > 0 || thread.depth == 0)
        return false;
    const OpenSlice &top = thread.frames[thread.depth - 1];
    return top.name == name && top.cpu_index == cpu_index && top.switches == switches_[cpu_index] &&
           !top.spans_loss && !top.is_crossed &&
           (top.unit_serial == 0 || top.unit_serial == thread.unit_serial);
}

inline void PairState::give_plain_to_parent(ThreadState &thread, const PlainSlice &slice)
{
    if (thread.depth == 0)
        return;
    OpenSlice &parent = thread.frames[thread.depth - 1];
    parent.own += ProbeCounts{.ends = 2};
    ++parent.children;
    parent.in_children += slice.inside;
    parent.child_ticks = wrapping_sum(parent.child_ticks, slice.raw_ticks);
}

inline void PairState::give_leaves_to_parent(ThreadState &thread, const LeavesSlice &slice)
{
    if (thread.depth == 0)
        return;
    OpenSlice &parent = thread.frames[thread.depth - 1];
    parent.own += ProbeCounts{.ends = 2};
    ++parent.children;
    if (slice.leaves > 0)
        parent.in_children += ProbeCounts{.ends = 2 * slice.leaves};
    parent.child_ticks = wrapping_sum(parent.child_ticks, slice.raw_ticks);
}

template <class Sink>
[[gnu::always_inline]] inline bool Pairer<Sink>::give_leaves(const LeavesSlice &slice)
{
    if constexpr (TakesPlainSlices<Sink>)
        return sink_.leaves(slice);
    else
        return false;
}

template <class Sink>
[[gnu::always_inline]] inline bool Pairer<Sink>::give_plain(const PlainSlice &slice)
{
    if constexpr (TakesPlainSlices<Sink>)
        return sink_.plain(slice);
    else
        return false;
}

// The same as push() and stop(), without the stack.
template <class Sink>
[[gnu::always_inline]] inline void Pairer<Sink>::leaf(ThreadState &thread, uint32_t cpu_index,
                                                      const Event &start, const Event &stop)
{
    const LeavesSlice slice{names_.of_slice(start.slice_id), cpu_index,
                            int64_t(stop.ticks - start.ticks), thread.unit};
    if (start.word_count != 0 || !give_leaves(slice))
        leaf_slice(thread, cpu_index, start, stop);
    give_leaves_to_parent(thread, slice);
}

// False if the STOP is left to stop().
template <class Sink>
[[gnu::always_inline]] inline bool Pairer<Sink>::stop_plain(ThreadState &thread, uint32_t cpu_index,
                                                            NameId name, uint64_t ticks)
{
    if (!is_plain(thread, cpu_index, name))
        return false;
    const OpenSlice &frame = thread.frames[thread.depth - 1];
    PlainSlice slice{name,        cpu_index,         int64_t(ticks - frame.start_ticks),
                     thread.unit, frame.child_ticks, frame.children,
                     frame.own,   frame.in_children};
    slice.inside += frame.in_children;
    if (!give_plain(slice))
        return false;
    --thread.depth;
    give_plain_to_parent(thread, slice);
    return true;
}

// A leaf with counters, or one that the sink does not take as plain.
template <class Sink>
void Pairer<Sink>::leaf_slice(ThreadState &thread, uint32_t cpu_index, const Event &start,
                              const Event &stop)
{
    constexpr std::array<int64_t, NSLICE_MAX_COUNTERS> kNothingInside{};
    Slice slice; // by member, as in OpenSlice::begin()
    slice.name = names_.of_slice(start.slice_id);
    slice.cpu_index = slice.kernel_index = cpu_index;
    slice.thread_id = start.thread_id;
    slice.depth = thread.depth;
    slice.start_ticks = start.ticks;
    slice.stop_ticks = stop.ticks;
    slice.raw_ticks = int64_t(stop.ticks - start.ticks);
    slice.child_ticks = 0;
    slice.children = 0;
    slice.inside.clear();
    slice.in_children.clear();
    slice.is_migrated = slice.is_interrupted = slice.spans_loss = slice.is_crossed = false;
    slice.unit = thread.unit;
    slice.counters = slice.child_counters = nullptr;
    slice.interruptions = slice.interruptions_in_children = nullptr;
    slice.interrupt_counters = slice.interrupt_counters_in_children = nullptr;
    slice.programs = slice.programs_in_children = {};
    std::array<int64_t, NSLICE_MAX_COUNTERS> values;
    if (start.word_count != 0) {
        for (size_t i = 0; i < counters_; ++i)
            values[i] = int64_t(stop.words[i] - start.words[i]);
        slice.counters = values.data();
        slice.child_counters = kNothingInside.data();
    }
    sink_.slice(slice);
    if (!slice.counters || thread.depth == 0 || !thread.frames[thread.depth - 1].has_counters)
        return;
    ++thread.frames[thread.depth - 1].counted_children;
    add_counters(thread.counters[thread.depth - 1].child_sum, values.data());
}
} // namespace nsdump
