// SPDX-License-Identifier: MIT
// Ring writer: records -> the pages of a ring.  When the ring is full it drops and counts, or
// waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "ring/ring_pages.hpp"

namespace mapi::ring
{
struct WriterOptions {
    bool waits = false;       // when full; otherwise drops and counts
    uint64_t spare_bytes = 0; // reserved for reserve_last()
    uint64_t most_bytes =
        UINT64_MAX; // limit of unread bytes, including spare_bytes; the ring may be larger
    uint32_t record_bytes = UINT32_MAX; // of the longest record
};

class RingWriter
{
public:
    // The pages are zeroed and must outlive the writer.
    RingWriter(const RingPages &pages, const WriterOptions &options)
        : pages_(pages), options_(options), most_bytes_(std::min(pages.bytes, options.most_bytes))
    {
    }
    ~RingWriter();
    RingWriter(const RingWriter &) = delete;
    RingWriter &operator=(const RingWriter &) = delete;

    // Device's thread.  Null if there is no room; the drop is counted.
    void *reserve(uint32_t bytes);
    void *reserve_last(uint32_t bytes);
    void publish();

    // Any thread.
    void end();
    void cancel();
    uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
    const RingPages &pages() const { return pages_; }
    // According to the reader's tail: the reader releases records later than it takes them.
    bool has_left(bool need_not_read) const
    {
        const uint64_t tail = pages_.reader->tail.load(std::memory_order_relaxed);
        return pages_.writer->head.load() != tail && (!need_not_read || tail != 0);
    }
    // Readable initially, and again when a reader that requested it (Wants::kPolls) has something
    // to read; -1 with errno on failure.
    int poll_descriptor();
    bool has_poll_descriptor() const { return reported_at_.load(std::memory_order_relaxed) >= 0; }

private:
    void *place(uint32_t bytes, uint64_t spare_bytes, bool may_wait);
    bool has_room(uint64_t needed) const;
    bool wait_for_room(uint64_t needed, bool may_wait);
    void tell_reader();

    const RingPages pages_;
    const WriterOptions options_;
    const uint64_t most_bytes_;
    uint64_t position_ = 0;  // ahead of head inside a batch
    uint64_t seen_tail_ = 0; // from the reader; not trusted
    std::atomic<uint64_t> dropped_ = 0;
    std::atomic<bool> is_cancelled_ = false;
    // A pipe, since the reader does not share the file description of the write end and so cannot
    // make it block.
    std::atomic<int> reported_at_ = -1;
    int read_at_ = -1;
    std::mutex mutex_; // for creating the pipe
};
} // namespace mapi::ring
