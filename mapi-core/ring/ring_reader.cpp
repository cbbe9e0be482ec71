// SPDX-License-Identifier: MIT
// Ring reader: the pages of a ring -> records.
#include "ring/ring_reader.hpp"

#include <algorithm>
#include <chrono>

#include "ring/futex.hpp"

namespace mapi::ring
{
namespace
{
constexpr int kLookAgainMs = 200;
} // namespace

bool RingReader::has_record()
{
    if (position_ == seen_head_)
        seen_head_ =
            pages_.writer->head
                .load(); // pairs with the store in publish(): records before it are complete
    return position_ != seen_head_;
}

Record RingReader::next()
{
    while (has_record()) {
        if (const Record record = next_seen(); record.data)
            return record;
        position_ += pages_.bytes - (position_ & (pages_.bytes - 1));
    }
    return {};
}

// Released in steps of an eighth of the ring, so that not every record touches the cache line that
// both sides write.
void RingReader::release()
{
    if (!may_hold())
        give_back();
}

void RingReader::give_back()
{
    if (position_ == reported_)
        return;
    reported_ = position_;
    pages_.reader->tail.store(position_);
    if (pages_.writer->writer_waits.load() == 0)
        return;
    pages_.reader->wakes.fetch_add(1);
    wake(pages_.reader->wakes);
}

bool RingReader::wait(int timeout_ms, const IsAlive &is_alive)
{
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
    while (true) {
        const uint32_t wakes = pages_.writer->wakes.load();
        pages_.reader->wants.fetch_or(kSleeps);
        if (has_record())
            return true;
        if (pages_.writer->is_over.load() != 0)
            return has_record();
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        if ((timeout_ms >= 0 && left <= 0) || !is_alive())
            return false;
        wait_for_change(pages_.writer->wakes, wakes,
                        timeout_ms < 0 ? kLookAgainMs : int(std::min<int64_t>(left, kLookAgainMs)));
    }
}

void RingReader::disturb() const
{
    wake(pages_.writer->wakes);
}

bool RingReader::ask_for_poll()
{
    pages_.reader->wants.fetch_or(kPolls);
    return has_record() || pages_.writer->is_over.load() != 0;
}
} // namespace mapi::ring
