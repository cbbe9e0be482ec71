// SPDX-License-Identifier: MIT
// analyse: the part of pair.hpp that reads records where they lie, without events in between, which
// would take as long as the pairing itself.
#pragma once

#include "analyse/pair/pair_plain.hpp"
#include "decode/record_at.hpp"

namespace nsdump
{
// The innermost open slice of a thread while it has only leaves inside.  Most of those that have
// something inside are never more than this, and need no place on the stack.
struct ShallowSlice {
    uint64_t head = 0; // the second word of the START's head; 0 if no such slice is open
    uint64_t start_ticks = 0;
    int64_t leaf_ticks = 0; // as of LeavesSlice
    uint64_t leaves = 0;    // with 32 bits, compilers read more than they wrote, which stalls

    bool is_open() const { return head != 0; }
    bool is_ended_by(uint64_t other_head) const
    {
        return other_head == head + kStopAfterStart && is_open();
    }
};

struct TakenRecords {
    unsigned count = 0;
    ptrdiff_t words = 0; // of all
};

inline constexpr uint64_t kSliceMask = uint64_t{0xffff} << NSLICE_HEAD_SLICE_SHIFT;

// Into the second-level cache: the chunk that is read now is in the first one.
inline void prefetch_ahead(const uint64_t *at, uintptr_t ahead_bytes)
{
    __builtin_prefetch(
        reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(at) + ahead_bytes), 0, 2);
}

inline uint16_t slice_id_of(uint64_t head)
{
    return uint16_t(head >> NSLICE_HEAD_SLICE_SHIFT);
}

// Whether the record of `words` words at `at` is followed by a STOP of the same slice, thread and
// number of words.
inline bool is_stopped_next(const uint64_t *at, ptrdiff_t words, const uint64_t *end)
{
    return end - at >= 2 * words && at[words + 1] == at[1] + kStopAfterStart;
}

// The head of a START without counters that may begin a plain slice of the thread, less its slice;
// a value that no head has if none may.
inline uint64_t PairState::plain_start(const ThreadState &thread) const
{
    constexpr uint64_t kStart = uint64_t{NSLICE_KIND_START} << NSLICE_HEAD_KIND_SHIFT;
    return may_have_plain(thread) ? kStart | thread.id : kSliceMask;
}

template <class Sink>
template <class OnThread>
void Pairer<Sink>::consume(RecordCursor &records, const PayloadPlace &place, OnThread on_thread)
{
    if (place.is_after_loss) [[unlikely]]
        note_loss(place.cpu_index);
    while (const size_t words = record_words_at(records.at, records.end)) {
        if (!is_known_kind(NSLICE_RECORD_KIND(records.at[1]))) [[unlikely]] {
            records.at += words;
            ++records.decoded;
            ++records.unknown_kind;
            continue;
        }
        const auto id = uint32_t(records.at[1]);
        on_thread(id);
        ThreadState &state = thread(place.cpu_index, id);
        if (state.last_cpu_index != place.cpu_index) [[unlikely]]
            note_cpu(state, place.cpu_index);
        take_thread(state, place.cpu_index, records);
    }
    records.malformed_words += uint64_t(records.end - records.at);
    records.at = records.end;
}

// Takes the next record, which is of the thread, and those that follow it, until one is of another
// thread, of an unknown kind or malformed.
template <class Sink>
void Pairer<Sink>::take_thread(ThreadState &thread, uint32_t cpu_index, RecordCursor &records)
{
    constexpr ptrdiff_t kWords = NSLICE_HEAD_WORDS; // of a record without counters
    const uint64_t *at = records.at, *const end = records.end;
    uint64_t last_ticks = records.last_ticks, others = 0;
    ptrdiff_t other_words = 0;
    const uintptr_t ahead_bytes = records.ahead_bytes;
    const auto pass = [&](uint64_t ticks) {
        if (ticks < last_ticks) [[unlikely]]
            records.goes_back = true;
        last_ticks = ticks;
    };
    ShallowSlice open;
    for (uint64_t start = plain_start(thread); end - at >= kWords;) {
        const uint64_t ticks = at[0], head = at[1];
        prefetch_ahead(at, ahead_bytes);
        if ((head & ~kSliceMask) == start) {
            pass(ticks);
            if (is_stopped_next(at, kWords, end)) {
                pass(at[kWords]);
                if (!leaf_in_place(thread, cpu_index, open, at)) [[unlikely]]
                    start = plain_start(thread);
                at += 2 * kWords;
                continue;
            }
            if (open.is_open()) {
                put_on_stack(thread, cpu_index, open);
                start = plain_start(thread);
            }
            open = {head, ticks, 0, 0};
            at += kWords;
            continue;
        }
        if (open.is_ended_by(head) && stop_shallow(thread, cpu_index, open, ticks)) {
            pass(ticks);
            open.head = 0;
            at += kWords;
            continue;
        }
        put_on_stack(thread, cpu_index, open);
        const TakenRecords taken = take_other(thread, cpu_index, at, records);
        if (taken.count == 0)
            break;
        pass(ticks);
        if (taken.count == 2)
            pass(at[taken.words / 2]);
        start = plain_start(thread);
        at += taken.words;
        others += taken.count;
        other_words += taken.words;
    }
    put_on_stack(thread, cpu_index, open);
    records.decoded += others + uint64_t(at - records.at - other_words) / kWords;
    records.at = at;
    records.last_ticks = last_ticks;
}

// Takes the record, or a leaf with counters; nothing if the record is not of the thread, of an
// unknown kind or malformed.
template <class Sink>
inline TakenRecords Pairer<Sink>::take_other(ThreadState &thread, uint32_t cpu_index,
                                             const uint64_t *at, const RecordCursor &records)
{
    const auto words = ptrdiff_t(record_words_at(at, records.end));
    if (words == 0 || uint32_t(at[1]) != thread.id || !is_known_kind(NSLICE_RECORD_KIND(at[1])))
        return {};
    const Event event = event_at(at, records.cpu);
    if (event.word_count > 0 && is_stopped_next(at, words, records.end)) {
        const Event next = event_at(at + words, records.cpu);
        if (is_leaf(thread, event, next)) {
            leaf(thread, cpu_index, event, next);
            return {2, 2 * words};
        }
    }
    take(thread, cpu_index, event);
    return {1, words};
}

// A START and its STOP.  False if the slice around it had to be put on the stack.
template <class Sink>
[[gnu::always_inline]] inline bool
Pairer<Sink>::leaf_in_place(ThreadState &thread, uint32_t cpu_index, ShallowSlice &around,
                            const uint64_t *at)
{
    const LeavesSlice slice{names_.of_slice(slice_id_of(at[1])), cpu_index,
                            int64_t(at[NSLICE_HEAD_WORDS] - at[0]), thread.unit};
    const bool is_given = give_leaves(slice);
    if (!is_given) [[unlikely]] {
        put_on_stack(thread, cpu_index, around);
        leaf_slice(thread, cpu_index, event_at(at, 0), event_at(at + NSLICE_HEAD_WORDS, 0));
    }
    if (around.is_open()) {
        ++around.leaves;
        around.leaf_ticks = wrapping_sum(around.leaf_ticks, slice.raw_ticks);
    } else {
        give_leaves_to_parent(thread, slice);
    }
    return is_given;
}

// False if it is left to stop().
template <class Sink>
[[gnu::always_inline]] inline bool
Pairer<Sink>::stop_shallow(ThreadState &thread, uint32_t cpu_index, const ShallowSlice &open,
                           uint64_t ticks)
{
    const LeavesSlice slice{names_.of_slice(slice_id_of(open.head)),
                            cpu_index,
                            int64_t(ticks - open.start_ticks),
                            thread.unit,
                            open.leaf_ticks,
                            uint32_t(open.leaves)};
    if (!give_leaves(slice))
        return false;
    give_leaves_to_parent(thread, slice);
    return true;
}

// Nothing if it is not open; closed afterwards.
inline void PairState::put_on_stack(ThreadState &thread, uint32_t cpu_index, ShallowSlice &slice)
{
    if (!slice.is_open())
        return;
    const NameId name = names_.of_slice(slice_id_of(slice.head));
    if (OpenSlice *const frame = open(thread, cpu_index, name, slice.start_ticks)) {
        frame->child_ticks = slice.leaf_ticks;
        frame->children = uint32_t(slice.leaves);
        frame->own = {.ends = 2 * uint32_t(slice.leaves)};
    }
    slice.head = 0;
}
} // namespace nsdump
