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

#include "drivers/bytes/byte_source.hpp"
#include "drivers/bytes/page_buffer.hpp"
#include "drivers/bytes/piece_index.hpp"
#include "drivers/bytes/reading_pace.hpp"

namespace mapi::drivers
{
// A second thread reads; where the source can be read at any offset, the caller does so, too, rather than wait.  A caller that only
// takes what the other has read is slower than one that reads all itself: each byte comes out of the other processor's cache.  Where
// the caller is the slow one, or is faster alone, the thread sleeps, and is tried again from time to time.
//
// With a format, the thread also finds the packets of the pieces that it has read and runs the prefilter on them, so that the caller need not
// look at them.  It can do so once it is known where the first record in the piece begins: whoever goes through the piece before says so, as
// early as possible.
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
    static std::unique_ptr<ReadAhead> start(ByteSource &source, uint64_t position, PieceIndexing indexing = {});
    ~ReadAhead();
    ReadAhead(const ReadAhead &) = delete;
    ReadAhead &operator=(const ReadAhead &) = delete;

    struct Piece {
        uint8_t *at = nullptr; // the room before it is the caller's, too
        size_t bytes = 0; // 0: go on with source.read()
        const PieceIndex *index = nullptr; // its packets, or null if they have not been indexed
    };
    // Waits for the next one.  The one before stays.
    Piece take();
    // A record begins here, in the piece that was taken last or in what was left before it: an index of it and of all that follow in the piece.
    // Null where there is no format, and where the thread rests: nobody waits to hear where the next piece's first record begins.
    const PieceIndex *index_from(const uint8_t *record);
    // All before the one that was taken last.
    void release_before();
    // As the source's, after the last piece.
    uint64_t rest_bytes() const;

private:
    // Each reader has its own, so that their memory stays in its cache: of what the other has read the caller looks at headers alone.
    // Some hundred KiB each, a third to a half of a second-level cache of a megabyte; with fewer, one often waits for the other.  Of a source without offsets the caller reads nothing: its own lie idle.
    static constexpr uint32_t kCallerSlots = 3, kThreadSlots = 4, kSlots = kCallerSlots + kThreadSlots;

    struct Slot {
        uint32_t end_piece = 0; // behind the piece that is in it
        size_t bytes = 0;
        uint64_t source_rest_bytes = 0; // where the source has no offsets
    };
    // What becomes of a piece that the thread has read.
    enum class Stage : uint32_t { kRead, kIndexing, kIndexed, kTaken };
    // Where a piece is, by its number: fewer are in use at a time.
    struct Place {
        std::atomic<uint32_t> end_piece = 0; // behind the piece; it is read
        uint32_t slot = 0;
        std::atomic<uint64_t> first_record = 0; // marked() with its offset in the piece
        std::atomic<uint64_t> stage = 0;        // marked() with a Stage
    };
    static uint64_t marked(uint32_t piece, uint32_t value) { return uint64_t(piece + 1) << 32 | value; }
    static uint64_t marked(uint32_t piece, Stage stage) { return marked(piece, uint32_t(stage)); }
    static constexpr uint32_t kPlaces = 8;
    static_assert(kSlots <= kPlaces);

    ReadAhead(ByteSource &source, uint64_t position, PieceIndexing indexing);
    void run();
    bool read_timed(uint32_t released);
    bool has_work_soon(uint32_t released) const;
    bool knows_first_record(uint32_t piece) const;
    bool index_next();
    bool has_unindexed() const { return unindexed_begin_ != unindexed_end_; }
    uint32_t oldest_unindexed() const { return unindexed_[unindexed_begin_ % kPlaces]; }
    void index(uint32_t piece);
    PieceIndex &index_slot(uint32_t slot, uint32_t piece, const uint8_t *record);
    const PieceIndex *take_index(uint32_t piece);
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
    const PieceIndexing indexing_;
    const std::unique_ptr<PieceIndex[]> indices_; // of the slots; null: no format, or the thread is busy enough with unpacking
    uint32_t unindexed_[kPlaces] = {};            // thread's: pieces that it has read, by their order
    uint32_t unindexed_begin_ = 0, unindexed_end_ = 0;
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
