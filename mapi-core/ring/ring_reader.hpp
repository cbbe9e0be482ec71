// SPDX-License-Identifier: MIT
// Ring reader: the pages of a ring -> records, lent out where they lie.
#pragma once

#include <cstdint>
#include <functional>

#include "ring/ring_pages.hpp"

namespace mapi::ring
{
struct Record {
    const uint8_t *data = nullptr; // null: there is none
    uint32_t bytes = 0;
};

// One thread at a time.
class RingReader
{
public:
    // Asked now and then while it waits: false when no record can come any more.
    using IsAlive = std::function<bool()>;

    explicit RingReader(const RingPages &pages) : pages_(pages) {}

    // Until release() the records that next() gave stay.  None: the ring is empty.
    Record next();
    // All that next() gave may be overwritten.
    void release();
    // Whether release() would keep what next() gave for now, and there is a record that an earlier look has seen.
    bool may_hold() const { return position_ != seen_head_ && position_ - told_ < pages_.bytes / 8; }
    // The next one of these.  None: a gap comes first.
    Record next_seen()
    {
        const auto *header = reinterpret_cast<const RecordHeader *>(pages_.data + (position_ & (pages_.bytes - 1)));
        if (header->is_gap) [[unlikely]]
            return {};
        const uint64_t place = place_bytes(header->bytes);
        position_ += place;
        // Records lie in the cache of their writer's processor, and each tells where the next one is.  Those further on are fetched early, by
        // a guess that takes them to be as long as this one, so that the reader does not wait for each in turn.
        if (const uint64_t ahead = position_ + kRecordsAhead * place; ahead < seen_head_)
            __builtin_prefetch(pages_.data + (ahead & (pages_.bytes - 1)));
        return {reinterpret_cast<const uint8_t *>(header + 1), header->bytes};
    }
    // The same, and the writer knows at once.
    void give_back();
    // False: timeout_ms has passed, or none will come any more.  < 0 waits for ever.
    bool wait(int timeout_ms, const IsAlive &is_alive);
    // Another thread: wait() is to ask is_alive() soon.
    void disturb() const;
    // The writer writes no more; there may be records left.
    bool is_ended() const { return pages_.writer->is_over.load() != 0; }
    // Whether there is a record that next() has not given; has_begun(): whether it has given any.
    bool has_left() const { return pages_.writer->head.load() != position_; }
    bool has_begun() const { return position_ != 0; }
    bool is_over() const { return is_ended() && !has_left(); }
    // The poll descriptor is to become readable with the next record; true: there is one already, or none will come.
    bool ask_for_poll();

private:
    bool has_record();

    static constexpr uint64_t kRecordsAhead = 31; // of the next one

    const RingPages pages_;
    uint64_t position_ = 0;
    uint64_t seen_head_ = 0;
    uint64_t told_ = 0; // what the writer knows of position_
};
} // namespace mapi::ring
