// SPDX-License-Identifier: MIT
// Interval clock: packets and their times -> how many intervals have ended, and what a reference was then.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <mapi/function.h>

#include "functions/values/interval.hpp"

namespace mapi::functions
{
// The first interval begins with the first packet.  One of packets ends with its last packet, one of time before the first packet
// behind it; times that go back a little end none.  With a step back, as by a clock that is set or a capture that is read again,
// the interval begins anew.
class IntervalClock
{
public:
    explicit IntervalClock(Interval interval) : interval_(interval) {}

    // The next packet is the first.
    void reset()
    {
        has_packet_ = false;
        packets_ = 0;
    }

    // Intervals that end with this packet.
    uint64_t ended(uint64_t now_ns)
    {
        if (!has_packet_)
            begin_ns_ = now_ns;
        has_packet_ = true;
        last_ns_ = now_ns;
        return interval_.ns ? ended_by_time(now_ns) : ended_by_packets();
    }

    // Intervals of time that end although no packet comes, once the first one has come.
    uint64_t ended_in_silence(uint64_t now_ns) { return has_packet_ && interval_.ns ? ended_by_time(now_ns) : 0; }

    // What the reference was when these ended: with packet i of the batch, or before it.
    int read(const mapi_reference *reference, uint32_t i, uint64_t *value) const
    {
        return interval_.ns ? mapi_reference_read_before(reference, i, value) : mapi_reference_read(reference, i, value);
    }

    // When the interval `back` before the last one ended.
    uint64_t end_ns(uint64_t back) const { return interval_.ns ? begin_ns_ - back * interval_.ns : last_ns_; }

    // Of the interval that the end of all packets ends: whether one has come in it, and when it ends.
    bool has_rest() const { return has_packet_ && (interval_.ns || packets_ > 0); }
    uint64_t rest_end_ns() const { return interval_.ns ? begin_ns_ + interval_.ns : last_ns_; }

    bool is_timed() const { return interval_.ns != 0; }

    // Of those that ended, how many are to be told one by one; the rest of a long silence is one jump.
    uint64_t told(uint64_t ended, uint64_t most = kToldMax)
    {
        if (ended > most)
            count_jump();
        return std::min(ended, most);
    }
    // Any thread.  Steps back, and silences that were not told to their end.
    uint64_t time_jumps() const { return time_jumps_.load(std::memory_order_relaxed); }

    static constexpr uint64_t kToldMax = 65536;

private:
    static constexpr uint64_t kNsPerSecond = 1000000000;

    void count_jump() { time_jumps_.fetch_add(1, std::memory_order_relaxed); }

    uint64_t ended_by_packets()
    {
        if (++packets_ < interval_.packets)
            return 0;
        packets_ = 0;
        return 1;
    }

    uint64_t ended_by_time(uint64_t now_ns)
    {
        if (now_ns < begin_ns_ && begin_ns_ - now_ns > std::max(interval_.ns, kNsPerSecond)) {
            begin_ns_ = now_ns;
            count_jump();
        }
        if (now_ns < begin_ns_ || now_ns - begin_ns_ < interval_.ns)
            return 0;
        const uint64_t intervals = (now_ns - begin_ns_) / interval_.ns;
        begin_ns_ += intervals * interval_.ns;
        return intervals;
    }

    const Interval interval_;
    bool has_packet_ = false;
    uint64_t begin_ns_ = 0; // of the interval that goes on
    uint64_t last_ns_ = 0;  // of the last packet
    uint64_t packets_ = 0;  // since the last end
    std::atomic<uint64_t> time_jumps_ = 0;
};
} // namespace mapi::functions
