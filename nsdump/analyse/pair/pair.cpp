// SPDX-License-Identifier: MIT
// analyse: events -> slices and units; the rare paths.
#include "analyse/pair/pair.hpp"

#include <utility>

namespace nsdump
{
ThreadState &PairState::find_thread(uint32_t cpu_index, uint32_t id)
{
    ThreadState *&recent = recent_[id % kRecent];
    if (recent && recent->id == id) {
        switches_[cpu_index] += cached_[cpu_index] != nullptr;
        return *(cached_[cpu_index] = recent);
    }
    auto found = threads_.find(id);
    if (found == threads_.end()) {
        if (threads_.size() >= kMaxThreads)
            forget_threads();
        found = threads_.emplace(id, std::make_unique<ThreadState>()).first;
        found->second->id = id;
    }
    switches_[cpu_index] += cached_[cpu_index] != nullptr;
    return *(cached_[cpu_index] = recent = found->second.get());
}

// A thread with nothing open has no relevant state.  Only a hostile trace has this many threads
// with open slices, which are then counted as unmatched.
void PairState::forget_threads()
{
    for (auto it = threads_.begin(); it != threads_.end();)
        it = it->second->is_idle() ? threads_.erase(it) : std::next(it);
    if (threads_.size() > kMaxThreads / 2) {
        close_all();
        threads_.clear();
    }
    cached_.assign(cached_.size(), nullptr);
    recent_.assign(recent_.size(), nullptr);
    for (ThreadsByCpu *list : {&open_unlost_, &open_seen_})
        list->clear();
    for (const auto &[id, thread] : threads_) {
        thread->is_listed = {};
        open_unlost_.add(*thread);
        open_seen_.add(*thread);
    }
}

// The slice has no STOP: its contents are moved to the slice around it.
void PairState::drop_top(ThreadState &thread)
{
    drop_too_deep(thread); // slices that were too deep lie inside it
    const uint32_t depth = --thread.depth;
    const OpenSlice &frame = thread.frames[depth];
    ++unpaired_.slices.of(frame.name).unmatched_start;
    if (depth == 0)
        return;
    OpenSlice &below = thread.frames[depth - 1];
    add_ends(thread, depth - 1, frame.name, 1); // its START was executed there
    below.programs += frame.programs;
    below.programs.calls += frame.start_calls;
    below.programs_in_children += frame.programs_in_children;
    below.own += frame.own;
    below.in_children += frame.in_children;
    below.children += frame.children;
    below.child_ticks = wrapping_sum(below.child_ticks, frame.child_ticks);
    if (keeps_interruptions_) {
        thread.interruptions[depth - 1].all += thread.interruptions[depth].all;
        thread.interruptions[depth - 1].in_children += thread.interruptions[depth].in_children;
    }
    if (frame.has_counters && below.has_counters) {
        below.counted_children += frame.counted_children;
        CounterFrame &to = thread.counters[depth - 1];
        add_counters(to.child_sum, thread.counters[depth].child_sum.data());
        if (is_kernel_) {
            add_counters(thread.interrupt_counters[depth - 1].all,
                         thread.interrupt_counters[depth].all.data());
            add_counters(thread.interrupt_counters[depth - 1].in_children,
                         thread.interrupt_counters[depth].in_children.data());
        }
    }
}

void PairState::interrupt(uint32_t thread_id, const Interruptions &what)
{
    const auto found = threads_.find(thread_id);
    if (kernel_indices_.empty() || found == threads_.end() || found->second->depth == 0)
        return;
    ThreadState &thread = *found->second;
    thread.interruptions[thread.depth - 1].all += what;
    // The kernel's counters belong to the CPU, so they also counted the threads that ran meanwhile.
    if (is_kernel_ && what.switches > 0)
        for (uint32_t i = 0; i < thread.depth; ++i)
            thread.frames[i].has_counters = false;
}

void PairState::lose_sight_of_cpu(uint32_t cpu_index)
{
    if (!kernel_indices_.empty())
        open_seen_.take(cpu_index, lose_sight_of);
}

void PairState::lose_sight_of_thread(uint32_t thread_id)
{
    if (const auto found = threads_.find(thread_id);
        !kernel_indices_.empty() && found != threads_.end())
        lose_sight_of(*found->second);
}

void PairState::lose_sight_of(ThreadState &thread)
{
    for (uint32_t i = 0; i < thread.depth; ++i)
        thread.interruptions[i].is_unseen = true;
}

void PairState::give_interrupt_to_parent(ThreadState &thread, const Slice &slice)
{
    OpenSlice &parent = thread.frames[slice.depth - 1];
    Interruptions &around = thread.interruptions[slice.depth - 1].all;
    around.ticks = wrapping_sum(around.ticks, slice.raw_ticks);
    ++around.interrupts;
    around.probes.ends += 2;
    around.programs.calls += thread.frames[slice.depth].start_calls;
    if (!parent.has_counters)
        return;
    if (slice.counters)
        add_counters(thread.interrupt_counters[slice.depth - 1].all, slice.counters);
    else
        parent.has_counters = false;
}

bool PairState::bring_to_top(ThreadState &thread, NameId name)
{
    uint32_t place = thread.depth;
    while (place > 0 && thread.frames[place - 1].name != name)
        --place;
    if (place == 0)
        return false;
    while (thread.depth > place) {
        suspect_top(thread);
        drop_top(thread);
    }
    return true;
}

void PairState::note_cpu(ThreadState &thread, uint32_t cpu_index)
{
    const bool is_new = thread.last_cpu_index == kNoCpu, moves_first = !is_new && !thread.has_moved;
    thread.has_moved |= moves_first;
    thread.last_cpu_index = cpu_index;
    for (ThreadsByCpu *list : {&open_unlost_, &open_seen_}) {
        if (is_new)
            list->add(thread);
        else if (moves_first)
            list->move(thread);
    }
}

// Everything that a thread wrote on the CPU may be lost, and with it the evidence that it was
// there.
void PairState::note_loss(uint32_t cpu_index)
{
    open_unlost_.take(cpu_index, [this](ThreadState &thread) { miss_records(thread); });
}

void PairState::note_pause()
{
    open_unlost_.take_all([this](ThreadState &thread) {
        miss_records(thread);
        set_open_units(thread, 0); // what follows may be in another unit, whose INIT was left out
    });
}

void PairState::miss_records(ThreadState &thread)
{
    for (uint32_t i = 0; i < thread.depth; ++i)
        thread.frames[i].spans_loss = true;
    thread.has_lossy_slices = thread.needs_care = true; // the next START lists it again
    thread.overflow = 0;                                // its STOPs may be lost
    thread.overflow_names.clear();
    if (thread.is_undecided()) // the deciding STOP may be lost
        settle(thread, thread.crossings->suspected, false);
}

// Without this, the slice of every lost STOP would stay open forever, until the maximum depth is
// reached.
void PairState::drop_restarted(ThreadState &thread, NameId name)
{
    uint32_t place = 0, lossy = 0;
    for (uint32_t i = 0; i < thread.depth; ++i) {
        lossy += thread.frames[i].spans_loss;
        if (thread.frames[i].spans_loss && thread.frames[i].name == name && place == 0)
            place = i + 1;
    }
    thread.has_lossy_slices = lossy > 0;
    while (place > 0 && thread.depth >= place)
        drop_top(thread);
    open_unlost_.add(thread);
}

void PairState::set_open_units(ThreadState &thread, uint32_t count)
{
    const bool are_many = threads_.size() >= kManyThreads; // few sets stay in the cache anyway
    for (uint32_t i = count; are_many && i < thread.open_units; ++i)
        if (thread.units[i].seen.has_places())
            spare_seen_.push_back(std::move(thread.units[i].seen));
    thread.set_open_units(count);
}

Unit *PairState::begin_unit(ThreadState &thread, NameId name, const Event &event)
{
    if (event.word_count < NSLICE_INIT_WORDS) {
        ++unpaired_.malformed_events;
        return nullptr;
    }
    // If a unit of the same name is still open, its EXIT was lost.
    for (uint32_t place = thread.open_units; place > 0; --place) {
        if (thread.units[place - 1].name != name)
            continue;
        for (uint32_t i = place - 1; i < thread.open_units; ++i)
            ++unpaired_.units.of(thread.units[i].name).unmatched_start;
        settle_units(thread, thread.units[place - 1].serial);
        set_open_units(thread, place - 1);
        break;
    }
    if (thread.open_units == kMaxUnits) {
        ++unpaired_.units.of(name).too_deep;
        return nullptr;
    }
    if (thread.open_units == thread.units.size())
        thread.units.emplace_back();
    Unit &unit = thread.units[thread.open_units];
    unit.name = name;
    unit.number = event.words[0];
    unit.packets = event.words[1];
    unit.wire_bytes = event.words[2];
    unit.serial = ++last_serial_;
    unit.start_ticks = event.ticks;
    unit.thread_id = event.thread_id;
    unit.cpu = event.cpu;
    if (!unit.seen.has_places() && !spare_seen_.empty()) {
        unit.seen = std::move(spare_seen_.back());
        spare_seen_.pop_back();
    }
    unit.seen.clear();
    set_open_units(thread, thread.open_units + 1);
    open_unlost_.add(thread); // a pause ends the unit
    return &unit;
}

void PairState::end_unit(ThreadState &thread, NameId name)
{
    uint32_t place = thread.open_units;
    while (place > 0 && thread.units[place - 1].name != name)
        --place;
    if (place == 0) {
        ++unpaired_.units.of(name).unmatched_stop;
        return;
    }
    for (uint32_t i = place; i < thread.open_units; ++i)
        ++unpaired_.units.of(thread.units[i].name).unmatched_start;
    // Slices that began in the unit and have no STOP (e.g. an early return) must not pile up unit
    // by unit.
    const uint64_t serial = thread.units[place - 1].serial;
    while (thread.depth > 0 && thread.frames[thread.depth - 1].unit_serial >= serial)
        drop_top(thread);
    settle_units(thread, serial);
    set_open_units(thread, place - 1);
}

void PairState::close_all()
{
    for (const auto &[id, thread] : threads_) {
        if (thread->is_undecided())
            settle(*thread, thread->crossings->suspected, false);
        while (thread->depth > 0)
            drop_top(*thread);
        for (uint32_t i = 0; i < thread->open_units; ++i)
            ++unpaired_.units.of(thread->units[i].name).unmatched_start;
        set_open_units(*thread, 0);
        thread->overflow = 0;
        thread->overflow_names.clear();
    }
}

void PairState::close_uncounted()
{
    const Unpaired before = unpaired_;
    close_all();
    unpaired_ = before;
}

void PairState::clear_counts()
{
    unpaired_ = {};
}
} // namespace nsdump
