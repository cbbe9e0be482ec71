// SPDX-License-Identifier: MIT
// Read-ahead: the next pieces of a large source, read while the packets of earlier pieces are
// processed.
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
#include "drivers/bytes/read_ahead_policy.hpp"

namespace mapi::drivers
{
// A second thread reads.  If the source can be read at any offset, the caller reads, too, instead
// of waiting: a caller that only takes pieces read by the other thread is slower than one that
// reads everything itself, since each byte comes from the other processor's cache.  If the caller
// is the slower thread, or is faster alone, the thread sleeps and is tried again from time to time.
//
// With a format, the thread also finds the packets of the pieces that it has read and runs the
// prefilter on them, so that the caller need not parse them.  This requires the offset of the first
// record in the piece, which the thread that processes the previous piece provides as early as
// possible.
//
// Errors are not reported: a piece ends before an error, and the caller gets it when it reads the
// source from there.
class ReadAhead
{
public:
    // Room before each piece, for the rest of the previous one.
    static constexpr size_t kRoomBytes = size_t(64) << 10;
    static constexpr size_t kPieceBytes = size_t(128) << 10;
    // Total memory of an object.
    static const size_t kMemoryBytes;

    // Starts at the source's byte `position`, which is also the position of its read().  Null if
    // read-ahead would not pay (a pipe, little data left, one processor) or no thread or memory is
    // available.  During its lifetime nothing else may use the source, except interrupt().
    static std::unique_ptr<ReadAhead> start(ByteSource &source, uint64_t position,
                                            PieceIndexing indexing = {});
    ~ReadAhead();
    ReadAhead(const ReadAhead &) = delete;
    ReadAhead &operator=(const ReadAhead &) = delete;

    struct Piece {
        uint8_t *at = nullptr;             // the caller may also use the room before it
        size_t bytes = 0;                  // 0: continue with source.read()
        const PieceIndex *index = nullptr; // its packets, or null if they are not indexed
    };
    // Waits for the next piece.  The previous piece stays valid.
    Piece take();
    // Builds an index of the record that begins here, in the piece taken last or in the room before
    // it, and of all that follow in the piece.  Null if there is no format, or the thread rests and
    // does not need the offset of the next piece's first record.
    const PieceIndex *index_from(const uint8_t *record);
    // Releases all pieces before the one taken last.
    void release_before();
    // The source's rest_bytes() after the last piece.
    uint64_t rest_bytes() const;

private:
    // Each reader has its own slots, whose memory stays in its cache: in pieces read by the other,
    // the caller accesses only headers.  They take some hundred KiB each, a third to a half of a
    // second-level cache of a megabyte; with fewer slots one thread often waits for the other.  Of
    // a source without offsets the caller reads nothing, so its slots stay unused.
    static constexpr uint32_t kCallerSlots = 3, kThreadSlots = 4,
                              kSlots = kCallerSlots + kThreadSlots;

    struct Slot {
        uint32_t end_piece = 0; // number of its piece plus 1
        size_t bytes = 0;
        uint64_t source_rest_bytes = 0; // only for sources without offsets
    };
    // State of a piece that the thread has read.
    enum class Stage : uint32_t { kRead, kIndexing, kIndexed, kTaken };
    // Location of a piece, by its number modulo kPlaces: fewer pieces are in use at a time.
    struct Place {
        std::atomic<uint32_t> end_piece = 0; // number of the piece plus 1, once it is read
        uint32_t slot = 0;
        std::atomic<uint64_t> first_record = 0; // marked() with its offset in the piece
        std::atomic<uint64_t> stage = 0;        // marked() with a Stage
    };
    static uint64_t marked(uint32_t piece, uint32_t value)
    {
        return uint64_t(piece + 1) << 32 | value;
    }
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
    const std::unique_ptr<PieceIndex[]>
        indices_; // of the slots; null: no format, or a source without offsets, where the thread is
                  // busy with unpacking
    uint32_t unindexed_[kPlaces] = {}; // thread's: pieces that it has read, in their order
    uint32_t unindexed_begin_ = 0, unindexed_end_ = 0;
    uint32_t next_ = 0;         // caller's
    uint64_t rest_bytes_ = 0;   // caller's: of a source without offsets, after the piece taken last
    bool has_short_ = false;    // caller's: the piece taken last was the final one
    uint32_t slept_pieces_ = 0; // caller's: released since the thread fell asleep
    ReadAheadPolicy policy_;    // caller's

    alignas(64) std::atomic<uint32_t> claimed_ = 0; // pieces that were read or are being read
    std::atomic<bool> is_ended_ = false;
    alignas(64) std::atomic<uint32_t> released_ = 0; // pieces that the caller has released
    std::atomic<bool> is_stopping_ = false;
    std::atomic<bool> is_asleep_ = false;
    std::atomic<bool> is_resting_;                // the caller reads alone
    std::chrono::steady_clock::duration reading_; // thread's: average time to read a piece
    std::thread thread_;
};
} // namespace mapi::drivers
