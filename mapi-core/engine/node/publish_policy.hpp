// SPDX-License-Identifier: MIT
// Publish policy: how long a published result stays unchanged, so that readers have time to copy
// it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace mapi::engine
{
// Device's thread.
class PublishPolicy
{
public:
    // Dozens of times a reader's copying time: readers seldom have to retry, and the writer spends
    // little time on copies.
    static constexpr std::chrono::nanoseconds kRestPerWord{64};

    void set_words(size_t words) { rest_ = words * kRestPerWord; }
    // For changes without packets.
    void note_change() { has_changed_ = true; }
    // packets: the count so far.  True if the result has changed and the published one is old
    // enough.
    bool is_due(uint64_t packets)
    {
        if (packets == packets_ && !has_changed_)
            return false;
        const auto now = Clock::now();
        if (now < next_)
            return false;
        packets_ = packets;
        has_changed_ = false;
        next_ = now + rest_;
        return true;
    }

private:
    using Clock = std::chrono::steady_clock;

    Clock::duration rest_{};
    Clock::time_point next_{};
    uint64_t packets_ = 0;
    bool has_changed_ = false;
};
} // namespace mapi::engine
