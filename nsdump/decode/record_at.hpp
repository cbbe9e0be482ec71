// SPDX-License-Identifier: MIT
// decode: the next record of a payload, where it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "decode/event.hpp"

namespace nsdump
{
// Number of words of the record at `at`, head included; 0 if there is no whole record before `end`.
// Kind 0 is a record that was never completed; no record has more than NSLICE_MAX_WORDS words.
inline size_t record_words_at(const uint64_t *at, const uint64_t *end)
{
    if (end - at < ptrdiff_t(NSLICE_HEAD_WORDS))
        return 0;
    const uint64_t head = at[1], words = head >> NSLICE_HEAD_COUNT_SHIFT;
    const bool is_whole = NSLICE_HEAD_WORDS + ptrdiff_t(words) <= end - at;
    return is_whole && NSLICE_RECORD_KIND(head) != 0 && words <= NSLICE_MAX_WORDS
               ? NSLICE_HEAD_WORDS + words
               : 0;
}

inline bool is_known_kind(uint64_t kind)
{
    return kind - NSLICE_KIND_START <= NSLICE_KIND_EXIT - NSLICE_KIND_START;
}

static_assert(offsetof(Event, ticks) == offsetof(nslice_record_head, ticks) &&
              offsetof(Event, thread_id) == offsetof(nslice_record_head, thread_id) &&
              offsetof(Event, slice_id) == offsetof(nslice_record_head, slice_id) &&
              offsetof(Event, kind) == offsetof(nslice_record_head, kind) &&
              offsetof(Event, word_count) == offsetof(nslice_record_head, words));

inline Event event_at(const uint64_t *at, uint32_t cpu)
{
    Event event;
    std::memcpy(static_cast<void *>(&event), at, sizeof(nslice_record_head));
    event.words = at + NSLICE_HEAD_WORDS;
    event.cpu = cpu;
    return event;
}
} // namespace nsdump
