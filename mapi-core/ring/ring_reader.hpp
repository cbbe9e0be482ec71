// SPDX-License-Identifier: MIT
// Ring reader: the pages of a ring -> records, returned in place.
#pragma once

#include <cstdint>
#include <functional>

#include "ring/ring_pages.hpp"

namespace mapi::ring
{
struct Record {
    const uint8_t *data = nullptr; // null: no record
    uint32_t bytes = 0;
};

// One thread at a time.
class RingReader
{
public:
    // Called from time to time during a wait; returns false if no more records can come.
    using IsAlive = std::function<bool()>;

    explicit RingReader(const RingPages &pages) : pages_(pages) {}

    // Records stay valid until release().  Returns no record if the ring is empty.
    Record next();
    // Allows the writer to overwrite all records returned by next().
    void release();
    // Whether release() would defer the release, and there is a record that was already seen.
    bool may_hold() const
    {
        return position_ != seen_head_ && position_ - reported_ < pages_.bytes / 8;
    }
    // The next record that was already seen.  Returns none if a gap comes first.
    Record next_seen()
    {
        const auto *header =
            reinterpret_cast<const RecordHeader *>(pages_.data + (position_ & (pages_.bytes - 1)));
        if (header->is_gap) [[unlikely]]
            return {};
        const uint64_t place = place_bytes(header->bytes);
        position_ += place;
        // Records are in the cache of their writer's processor, and each has the offset of the next
        // one.  Later records are prefetched, assuming that they are as long as this one, so that
        // the reader does not wait for each in turn.
        if (const uint64_t ahead = position_ + kRecordsAhead * place; ahead < seen_head_)
            __builtin_prefetch(pages_.data + (ahead & (pages_.bytes - 1)));
        return {reinterpret_cast<const uint8_t *>(header + 1), header->bytes};
    }
    // Like release(), and the writer sees it immediately.
    void give_back();
    // False on timeout, or if no more records will come.  timeout_ms < 0 waits forever.
    bool wait(int timeout_ms, const IsAlive &is_alive);
    // From another thread: makes wait() call is_alive() soon.
    void disturb() const;
    // The writer has ended; there may be records left.
    bool is_ended() const { return pages_.writer->is_over.load() != 0; }
    // Whether there is a record that next() has not returned; has_begun(): whether it has returned
    // any.
    bool has_left() const { return pages_.writer->head.load() != position_; }
    bool has_begun() const { return position_ != 0; }
    bool is_over() const { return is_ended() && !has_left(); }
    // Requests that the poll descriptor becomes readable with the next record; true if there is
    // already one, or none will come.
    bool ask_for_poll();

private:
    bool has_record();

    static constexpr uint64_t kRecordsAhead = 31; // prefetch distance

    const RingPages pages_;
    uint64_t position_ = 0;
    uint64_t seen_head_ = 0;
    uint64_t reported_ = 0; // position_ as published to the writer
};
} // namespace mapi::ring
