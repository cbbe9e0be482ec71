// SPDX-License-Identifier: MIT
// Ring writer: records -> the pages of a ring.
#include "ring/ring_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "ring/futex.hpp"

namespace mapi::ring
{
namespace
{
constexpr int kLookAgainMs = 100; // a dead or misbehaving reader never wakes the writer
} // namespace

RingWriter::~RingWriter()
{
    if (reported_at_ < 0)
        return;
    close(reported_at_);
    close(read_at_);
}

void *RingWriter::reserve(uint32_t bytes)
{
    return place(bytes, options_.spare_bytes, options_.waits);
}

void *RingWriter::reserve_last(uint32_t bytes)
{
    return place(bytes, 0, false);
}

void *RingWriter::place(uint32_t bytes, uint64_t spare_bytes, bool may_wait)
{
    const uint64_t needed = place_bytes(bytes);
    const uint64_t at = position_ & (pages_.bytes - 1);
    const uint64_t to_end = pages_.bytes - at;
    const uint64_t gap = to_end < needed ? to_end : 0;
    // A record larger than half of the memory might never fit if there is a gap before it.
    const bool fits = bytes <= options_.record_bytes && needed + spare_bytes <= pages_.bytes / 2;
    if (!fits || (!has_room(gap + needed + spare_bytes) &&
                  !wait_for_room(gap + needed + spare_bytes, may_wait))) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
    }
    if (gap != 0)
        *reinterpret_cast<RecordHeader *>(pages_.data + at) = {0, 1};
    position_ += gap;
    auto *header = reinterpret_cast<RecordHeader *>(pages_.data + (position_ & (pages_.bytes - 1)));
    *header = {bytes, 0};
    position_ += needed;
    return header + 1;
}

// A tail that no correct reader can reach leaves no room: it only harms the reader that wrote it.
bool RingWriter::has_room(uint64_t needed) const
{
    const uint64_t used = position_ - seen_tail_;
    return used <= most_bytes_ && most_bytes_ - used >= needed;
}

bool RingWriter::wait_for_room(uint64_t needed, bool may_wait)
{
    // pairs with the store of tail: the reader has released the bytes before it
    seen_tail_ = pages_.reader->tail.load(std::memory_order_acquire);
    if (has_room(needed) || !may_wait)
        return has_room(needed);
    publish(); // the reader must see the records that fill the ring
    // Sequentially consistent, like the reader's store of tail: either it sees the flag or this
    // side sees the new tail.
    pages_.writer->writer_waits.store(1);
    while (!is_cancelled_) {
        const uint32_t wakes = pages_.reader->wakes.load();
        seen_tail_ = pages_.reader->tail.load();
        if (has_room(needed))
            break;
        wait_for_change(pages_.reader->wakes, wakes, kLookAgainMs);
    }
    pages_.writer->writer_waits.store(0);
    return has_room(needed);
}

void RingWriter::publish()
{
    // Sequentially consistent with the reader's `wants`: either it sees the new head or this side
    // sees that it sleeps.
    if (position_ == pages_.writer->head.load(std::memory_order_relaxed))
        return;
    pages_.writer->head.store(position_);
    // In the same cache line as `wants`.  Read once per batch instead of when the ring seems full,
    // so that the cost of a packet does not depend on when its reader has read.
    seen_tail_ = pages_.reader->tail.load(
        std::memory_order_acquire); // pairs with the store of tail: the reader has released the
                                    // bytes before it
    if (pages_.reader->wants.load() != 0) [[unlikely]]
        tell_reader();
}

void RingWriter::tell_reader()
{
    const uint32_t wants = pages_.reader->wants.exchange(0);
    if (wants & kSleeps) {
        pages_.writer->wakes.fetch_add(1);
        wake(pages_.writer->wakes);
    }
    if ((wants & kPolls) && reported_at_ >= 0 && write(reported_at_, "", 1) < 0)
        return; // it is already readable
}

void RingWriter::end()
{
    publish();
    pages_.writer->is_over.store(1);
    pages_.reader->wants.fetch_or(kSleeps | kPolls);
    tell_reader();
}

void RingWriter::cancel()
{
    is_cancelled_ = true;
    pages_.writer->is_over.store(1);
    pages_.reader->wakes.fetch_add(1);
    wake(pages_.reader->wakes);
    pages_.reader->wants.fetch_or(kSleeps | kPolls);
    tell_reader();
}

int RingWriter::poll_descriptor()
{
    const std::lock_guard lock(mutex_);
    int ends[2];
    if (reported_at_ < 0 && pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
        read_at_ = ends[0];
        if (write(ends[1], "", 1) == 1) // readable initially, since there may already be records
            reported_at_ = ends[1];
    }
    return read_at_;
}
} // namespace mapi::ring
