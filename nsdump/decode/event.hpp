// SPDX-License-Identifier: MIT
// decode: the event, the decoded form of every record.
#pragma once

#include <cstdint>
#include <cstring>

#include <nslice/record.h>

namespace nsdump
{
struct Event { // the first 16 bytes have the layout of a record's head, so decoding is a copy
    uint64_t ticks;
    uint32_t thread_id;
    uint16_t slice_id;
    uint8_t kind; // enum nslice_kind; unknown kinds are skipped by the decoder
    uint8_t word_count;
    const uint64_t *words; // `word_count` words; valid until the stream's next block
    uint32_t cpu;
};

// Thread, slice, kind and number of words in one, as in the second word of a record's head.
inline uint64_t head_of(const Event &event)
{
    uint64_t head;
    std::memcpy(&head, &event.thread_id, sizeof head);
    return head;
}

// The kernel's idle threads, one per CPU, all have the id 0; this makes them distinct.
inline uint32_t thread_of(const Event &event, bool is_kernel)
{
    constexpr uint32_t kIdleThreads = 1u << 31;
    return is_kernel && event.thread_id == 0 ? kIdleThreads | event.cpu : event.thread_id;
}

// Key of the stack in which events nest: the kernel's events in a thread have a stack of their own.
inline uint64_t stack_of(const Event &event, bool is_kernel)
{
    return uint64_t{is_kernel} << 32 | thread_of(event, is_kernel);
}

inline const char *kind_name(unsigned kind)
{
    switch (kind) {
    case NSLICE_KIND_START: return "START";
    case NSLICE_KIND_STOP: return "STOP";
    case NSLICE_KIND_MARK: return "MARK";
    case NSLICE_KIND_INIT: return "INIT";
    case NSLICE_KIND_EXIT: return "EXIT";
    default: return "UNKNOWN";
    }
}
} // namespace nsdump
