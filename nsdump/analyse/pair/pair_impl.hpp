// SPDX-License-Identifier: MIT
// analyse: the part of pair.hpp that is compiled for each sink.
#pragma once

#include "analyse/pair/pair.hpp"

namespace nsdump
{
// Null if it is too deep.
inline OpenSlice *PairState::open(ThreadState &thread, uint32_t cpu_index, NameId name,
                                  uint64_t ticks)
{
    if (thread.needs_care) [[unlikely]]
        start_with_care(thread, name);
    const uint32_t depth = thread.depth;
    if (depth == thread.frames.size()) [[unlikely]] {
        if (depth == kMaxDepth) {
            if (thread.overflow++ == thread.overflow_names.size() &&
                thread.overflow <= kMaxOverflowNames)
                thread.overflow_names.push_back(name);
            ++unpaired_.slices.of(name).too_deep;
            return nullptr;
        }
        thread.frames.emplace_back();
        if (counters_ > 0)
            thread.counters.emplace_back();
        if (keeps_interruptions_)
            thread.interruptions.emplace_back();
        if (is_kernel_ && counters_ > 0)
            thread.interrupt_counters.emplace_back();
    }
    thread.depth = depth + 1;
    OpenSlice &frame = thread.frames[depth];
    frame.begin(name, cpu_index, ticks, thread.unit_serial, switches_[cpu_index]);
    if (keeps_interruptions_) [[unlikely]] {
        thread.interruptions[depth] = {{}, {}, is_blind_};
        open_seen_.add(thread);
    }
    return &frame;
}

inline void PairState::push(ThreadState &thread, uint32_t cpu_index, NameId name,
                            const Event &event)
{
    OpenSlice *const frame = open(thread, cpu_index, name, event.ticks);
    if (frame && bpf_.has_calls) [[unlikely]]
        frame->start_calls = calls_of(event);
    if (!frame || event.word_count == 0)
        return;
    if (event.word_count != counters_) { // hostile trace or broken writer: ignore the counters
        ++unpaired_.malformed_events;
        return;
    }
    frame->has_counters = true;
    CounterFrame &counters = thread.counters[thread.depth - 1];
    counters.child_sum = {};
    if (is_kernel_)
        thread.interrupt_counters[thread.depth - 1] = {};
    for (size_t i = 0; i < counters_; ++i)
        counters.start[i] = event.words[i];
}

template <class Sink> void Pairer<Sink>::consume(const Run &run)
{
    if (run.is_after_loss) [[unlikely]]
        note_loss(run.cpu_index);
    if (run.is_after_pause) [[unlikely]]
        note_pause();
    is_blind_ = run.is_kernel_unseen;
    if constexpr (requires(const Sink &sink) { sink.is_spread(); }) {
        if (sink_.is_spread()) [[unlikely]]
            return take_all<true>(run);
    }
    take_all<false>(run);
}

template <class Sink> template <bool kLooksAhead> void Pairer<Sink>::take_all(const Run &run)
{
    const Event *at = run.events.data(), *const end = at + run.events.size();
    while (at != end) {
        ThreadState &state = thread(run.cpu_index, thread_of(*at, is_kernel_));
        if (state.last_cpu_index != run.cpu_index) [[unlikely]]
            note_cpu(state, run.cpu_index);
        const uint32_t thread_id = at->thread_id;
        do {
            const bool is_pair = end - at > 1 && is_leaf(state, *at, at[1]);
            if constexpr (kLooksAhead) {
                look_ahead(run, *at);
                if (is_pair)
                    look_ahead(run, at[1]);
            }
            if (is_pair)
                leaf(state, run.cpu_index, *at, at[1]);
            else
                take(state, run.cpu_index, *at);
            at += is_pair ? 2 : 1;
        } while (at != end && at->thread_id == thread_id);
    }
}

template <class Sink>
inline void Pairer<Sink>::take(ThreadState &state, uint32_t cpu_index, const Event &event)
{
    const NameId name = names_.of_slice(event.slice_id);
    if (bpf_.has_calls) [[unlikely]]
        note_behind(state, cpu_index, event);
    if (event.kind == NSLICE_KIND_START)
        push(state, cpu_index, name, event);
    else if (event.kind != NSLICE_KIND_STOP)
        other(state, name, event);
    else if (event.word_count != 0 || !stop_plain(state, cpu_index, name, event.ticks))
        stop(state, cpu_index, name, event);
}

// Prefetches what later events of the run need.
template <class Sink> inline void Pairer<Sink>::look_ahead(const Run &run, const Event &event) const
{
    const ptrdiff_t left = run.events.data() + run.events.size() - &event;
    const Event *const at = &event;
    if (left <= kNearEvents) [[unlikely]]
        return;
    const Event &near = at[kNearEvents];
    if (near.kind == NSLICE_KIND_STOP)
        sink_.expect(names_.known(near.slice_id));
    if (near.thread_id != at[kNearEvents - 1].thread_id) [[unlikely]] {
        if (const ThreadState *next = guess_thread(thread_of(near, is_kernel_)))
            next->prefetch_rest();
    }
    if (left > kFarEvents && at[kFarEvents].thread_id != at[kFarEvents - 1].thread_id)
        [[unlikely]] {
        if (const ThreadState *next = guess_thread(thread_of(at[kFarEvents], is_kernel_)))
            next->prefetch();
    }
}

template <class Sink>
inline void Pairer<Sink>::stop(ThreadState &thread, uint32_t cpu_index, NameId name,
                               const Event &event)
{
    if (thread.overflow > 0 && stop_too_deep(thread, name)) [[unlikely]]
        return;
    if (thread.depth == 0 || thread.frames[thread.depth - 1].name != name) [[unlikely]] {
        if (!bring_to_top(thread, name))
            return lone_stop(thread, cpu_index, name, event);
    }
    const uint32_t depth = --thread.depth;
    const OpenSlice &frame = thread.frames[depth];
    Slice slice;
    slice.name = name;
    slice.cpu_index = cpu_index;
    slice.thread_id = event.thread_id;
    slice.depth = depth;
    slice.start_ticks = frame.start_ticks;
    slice.stop_ticks = event.ticks;
    slice.raw_ticks = int64_t(event.ticks - frame.start_ticks);
    slice.child_ticks = frame.child_ticks;
    slice.children = frame.children;
    slice.inside = frame.own;
    slice.inside += frame.in_children;
    slice.in_children = frame.in_children;
    slice.is_migrated = frame.cpu_index != cpu_index;
    slice.spans_loss = frame.spans_loss;
    slice.is_crossed = false;
    slice.is_interrupted = !slice.is_migrated && frame.switches != switches_[cpu_index];
    slice.kernel_index = cpu_index;
    slice.programs = frame.programs;
    slice.programs_in_children = frame.programs_in_children;
    if (bpf_.has_calls) [[unlikely]]
        slice.programs.calls += calls_of(event);
    slice.interruptions = nullptr;
    slice.interruptions_in_children = nullptr;
    slice.interrupt_counters = nullptr;
    slice.interrupt_counters_in_children = nullptr;
    if (keeps_interruptions_) [[unlikely]]
        tell_interruptions(thread, depth, slice);
    // A slice that was open before INIT belongs to the unit in which it ends, e.g. a read whose
    // result gives the number of packets.
    const bool is_of_unit = frame.unit_serial == 0 || frame.unit_serial == thread.unit_serial;
    slice.unit = is_of_unit ? thread.unit : nullptr;
    slice.counters = nullptr;
    slice.child_counters = nullptr;
    std::array<int64_t, NSLICE_MAX_COUNTERS> values;
    if (event.word_count != 0)
        read_counters(thread, depth, event, values, slice);
    if (!thread.needs_care || stop_with_care(thread, slice)) [[likely]]
        sink_.slice(slice);
    else if constexpr (TakesHeldSlices<Sink>)
        sink_.hold(slice);
    if (depth == 0)
        return;
    if (slice.is_crossed) [[unlikely]]
        return give_crossed_to_parent(thread, slice);
    if (is_kernel_ && is_interrupt(name))
        give_interrupt_to_parent(thread, slice);
    else
        give_to_parent(thread, slice);
}

// `values`: storage that lives as long as the slice.
template <class Sink>
inline void Pairer<Sink>::read_counters(ThreadState &thread, uint32_t depth, const Event &event,
                                        std::array<int64_t, NSLICE_MAX_COUNTERS> &values,
                                        Slice &slice)
{
    const OpenSlice &frame = thread.frames[depth];
    if (event.word_count != counters_) {
        ++unpaired_.malformed_events;
        return;
    }
    if (!frame.has_counters)
        return;
    // Running totals: the difference is correct even if a total wraps.
    for (size_t i = 0; i < counters_; ++i)
        values[i] = int64_t(event.words[i] - thread.counters[depth].start[i]);
    slice.counters = values.data();
    if (frame.counted_children == frame.children)
        slice.child_counters = thread.counters[depth].child_sum.data();
}

template <class Sink>
void Pairer<Sink>::tell_interruptions(ThreadState &thread, uint32_t depth, Slice &slice)
{
    InterruptionFrame &frame = thread.interruptions[depth];
    if (!kernel_indices_.empty())
        slice.kernel_index = kernel_indices_[slice.cpu_index];
    slice.spans_loss |= frame.is_unseen || is_blind_;
    if (const unsigned way = way_of(slice.name); way != 0)
        ++frame.all.ways.slices[way - 1];
    if (!frame.all.any())
        return;
    slice.interruptions = &frame.all;
    slice.interruptions_in_children = &frame.in_children;
    slice.is_interrupted |= !slice.is_migrated && (frame.all.interrupts | frame.all.switches) != 0;
    if (is_kernel_ && counters_ > 0) {
        slice.interrupt_counters = thread.interrupt_counters[depth].all.data();
        slice.interrupt_counters_in_children = thread.interrupt_counters[depth].in_children.data();
    }
}

template <class Sink>
inline void Pairer<Sink>::give_to_parent(ThreadState &thread, const Slice &slice)
{
    OpenSlice &parent = thread.frames[slice.depth - 1];
    if (way_of(slice.name) == 0) [[likely]]
        parent.own += ProbeCounts{.ends = 2};
    else
        add_ends(thread, slice.depth - 1, slice.name, 2);
    ++parent.children;
    parent.in_children += slice.inside;
    parent.child_ticks = wrapping_sum(parent.child_ticks, slice.raw_ticks);
    if (bpf_.has_calls) [[unlikely]] {
        parent.programs += slice.programs;
        parent.programs.calls += thread.frames[slice.depth].start_calls;
        parent.programs_in_children += slice.programs;
    }
    if (slice.interruptions) [[unlikely]] {
        InterruptionFrame &around = thread.interruptions[slice.depth - 1];
        add_interruptions(around.all, slice);
        around.in_children += *slice.interruptions;
    }
    if (slice.counters && parent.has_counters) {
        ++parent.counted_children;
        add_counters(thread.counters[slice.depth - 1].child_sum, slice.counters);
        if (slice.interrupt_counters) [[unlikely]] {
            InterruptCounters &around = thread.interrupt_counters[slice.depth - 1];
            add_counters(around.all, slice.interrupt_counters);
            add_counters(around.in_children, slice.interrupt_counters);
        }
    }
}

template <class Sink>
void Pairer<Sink>::lone_stop(ThreadState &thread, uint32_t cpu_index, NameId name,
                             const Event &event)
{
    [[maybe_unused]] const bool is_unmatched = stop_without_start(thread, cpu_index, name, event);
    if constexpr (TakesUnmatchedStops<Sink>)
        if (is_unmatched)
            sink_.unmatched_stop(name, thread.unit, event.ticks);
}

template <class Sink> void Pairer<Sink>::other(ThreadState &thread, NameId name, const Event &event)
{
    ProbeCounts *const inside = thread.depth > 0 ? &thread.frames[thread.depth - 1].own : nullptr;
    if (bpf_.has_calls && inside) [[unlikely]]
        thread.frames[thread.depth - 1].programs.calls += calls_of(event);
    switch (event.kind) {
    case NSLICE_KIND_MARK:
        if (inside)
            *inside += ProbeCounts{.marks = 1};
        if (event.word_count >= NSLICE_MARK_WORDS)
            sink_.mark(name, event.words[0]);
        else
            ++unpaired_.malformed_events;
        break;
    case NSLICE_KIND_INIT:
        if (inside)
            *inside += ProbeCounts{.inits = 1};
        if (const Unit *unit = begin_unit(thread, name, event))
            sink_.unit(*unit);
        break;
    case NSLICE_KIND_EXIT:
        if (inside)
            *inside += ProbeCounts{.exits = 1};
        end_unit(thread, name);
        break;
    }
}
} // namespace nsdump
