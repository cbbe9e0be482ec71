// SPDX-License-Identifier: MIT
// Read-ahead: the pieces of a large source that come next, read while the packets of those before are gone through.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>

#include "drivers/byte_source.hpp"
#include "drivers/page_buffer.hpp"
#include "drivers/reading_pace.hpp"

namespace mapi::drivers
{
// A second thread reads; where the source can be read at any offset, the caller does so, too, rather than wait.  A caller that only
// takes what the other has read is slower than one that reads all itself: each byte comes out of the other processor's cache.  Where
// the caller is the slow one, or is faster alone, the thread sleeps, and is tried again from time to time.
//
// Nothing is told of errors: a piece ends before one, and whoever reads the source from there meets it himself.
class ReadAhead
{
public:
    // Before each piece, for what is left of the one before.
    static constexpr size_t kRoomBytes = size_t(64) << 10;
    static constexpr size_t kPieceBytes = size_t(128) << 10;
    // All that it holds.
    static const size_t kMemoryBytes;

    // From the source's byte `position` on, where its read() stands.  Null where it does not pay: a pipe or a short rest, one
    // processor, no thread or memory to be had.  Until the end of its life the source is for it alone, but for interrupt().
    static std::unique_ptr<ReadAhead> start(ByteSource &source, uint64_t position);
    ~ReadAhead();
    ReadAhead(const ReadAhead &) = delete;
    ReadAhead &operator=(const ReadAhead &) = delete;

    struct Piece {
        uint8_t *at = nullptr; // the room before it is the caller's, too
        size_t bytes = 0; // 0: go on with source.read()
    };
    // Waits for the next one.  The one before stays.
    Piece take();
    // All before the one that was taken last.
    void release_before();
    // As the source's, after the last piece.
    uint64_t rest_bytes() const;

private:
    // Each reader has its own, so that their memory stays in its cache: of what the other has read the caller looks at headers alone.
    // With the room each three eighths to a half of a second-level cache.  Of a source without offsets the caller reads nothing: its own lie idle.
    static constexpr uint32_t kCallerSlots = 2, kThreadSlots = 3, kSlots = kCallerSlots + kThreadSlots;

    struct Slot {
        uint32_t end_piece = 0; // behind the piece that is in it
        size_t bytes = 0;
        uint64_t source_rest_bytes = 0; // where the source has no offsets
    };
    // Where a piece is, by its number: fewer are in use at a time.
    struct Place {
        std::atomic<uint32_t> end_piece = 0; // behind the piece; it is read
        uint32_t slot = 0;
    };
    static constexpr uint32_t kPlaces = 8;
    static_assert(kSlots <= kPlaces);

    ReadAhead(ByteSource &source, uint64_t position);
    void run();
    bool read_timed(uint32_t released);
    bool is_released_soon(uint32_t released) const;
    template <class Condition> void sleep_while(Condition holds);
    void wake_if_it_pays();
    void keep_pace();
    void wake();
    bool claim_and_read(std::span<Slot> own, uint32_t released);
    void read(uint32_t piece, Slot &slot);
    static void fetch(const uint8_t *piece, size_t bytes);
    uint8_t *memory_of(uint32_t slot);

    ByteSource &source_;
    const bool has_offsets_;
    const uint64_t position_; // of piece 0
    PageBuffer memory_;
    Slot slots_[kSlots]; // the caller's, the thread's
    Place places_[kPlaces];
    uint32_t next_ = 0;    // caller's
    uint64_t rest_bytes_ = 0; // caller's: of a source without offsets, behind the piece that was taken last
    bool has_short_ = false; // caller's: the last piece was the last one
    uint32_t slept_pieces_ = 0; // caller's: released since the thread fell asleep
    ReadingPace pace_;          // caller's

    alignas(64) std::atomic<uint32_t> claimed_ = 0; // pieces that somebody has read or is reading
    std::atomic<bool> is_ended_ = false;
    alignas(64) std::atomic<uint32_t> released_ = 0; // pieces that the caller is done with
    std::atomic<bool> is_stopping_ = false;
    std::atomic<bool> is_asleep_ = false;
    std::atomic<bool> is_resting_; // the caller reads alone
    std::chrono::steady_clock::duration reading_; // thread's: what reading a piece takes it
    std::thread thread_;
};
} // namespace mapi::drivers
