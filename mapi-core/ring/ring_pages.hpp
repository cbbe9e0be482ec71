// SPDX-License-Identifier: MIT
// Ring pages: the shared memory of a ring.  The reader is not trusted: it can write only to its own
// page, whose content is always checked.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace mapi::ring
{
// Written by the engine; a client in another process can only read it.
struct alignas(64) WriterPage {
    std::atomic<uint64_t> head =
        0; // bytes written since the start, whole records only; never wraps
    std::atomic<uint32_t> wakes = 0;        // a reader waits for this word to change
    std::atomic<uint32_t> is_over = 0;      // no more records will come
    std::atomic<uint32_t> writer_waits = 0; // for room
};

// Written by the reader.
enum Wants : uint32_t { kSleeps = 1, kPolls = 2 };
struct alignas(64) ReaderPage {
    std::atomic<uint64_t> tail = 0;  // bytes that the reader has released
    std::atomic<uint32_t> wants = 0; // Wants flags: requested notifications of new records
    std::atomic<uint32_t> wakes = 0; // a writer waits for this word to change
};

// Positions count bytes since the start; the offset in memory is position & (bytes - 1).
struct RingPages {
    WriterPage *writer = nullptr;
    ReaderPage *reader = nullptr;
    uint8_t *data = nullptr; // aligned to 8
    uint64_t bytes = 0;      // a power of two
};

// Before each record; a record never wraps.
struct RecordHeader {
    uint32_t bytes;  // of the record, without this header and without padding to a multiple of 8
    uint32_t is_gap; // the rest of the memory is unused: continue at its start
};
static_assert(sizeof(RecordHeader) == 8);

constexpr uint64_t place_bytes(uint32_t record_bytes)
{
    return (sizeof(RecordHeader) + uint64_t(record_bytes) + 7) & ~uint64_t(7);
}
} // namespace mapi::ring
