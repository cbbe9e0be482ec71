// SPDX-License-Identifier: MIT
// Publish pace: how long a result that readers copy stays as it is, so that they have the time to.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace mapi::engine
{
// Device's thread.
class PublishPace
{
public:
    // Dozens of times what a reader takes: it seldom has to begin again, and the writer spends little on copies.
    static constexpr std::chrono::nanoseconds kRestPerWord{64};

    void set_words(size_t words) { rest_ = words * kRestPerWord; }
    // Something changes without packets.
    void note_change() { has_changed_ = true; }
    // packets: that have come so far.  True: there is something new, and what is published is old enough.
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
