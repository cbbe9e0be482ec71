// SPDX-License-Identifier: MIT
// Interval clock: packets and their times -> how many intervals have ended, and the value of a
// reference at that time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <mapi/function.h>

#include "functions/values/interval.hpp"

namespace mapi::functions
{
// The first interval begins with the first packet.  An interval of packets ends with its last
// packet, an interval of time before the first packet beyond it; small steps back in time end no
// interval.  After a large step back, as when a clock is set or a capture is read again, the
// interval restarts.
class IntervalClock
{
public:
    explicit IntervalClock(Interval interval) : interval_(interval) {}

    // Treats the next packet as the first.
    void reset()
    {
        has_packet_ = false;
        packets_ = 0;
    }

    // Number of intervals that end with this packet.
    uint64_t ended(uint64_t now_ns)
    {
        if (!has_packet_)
            begin_ns_ = now_ns;
        has_packet_ = true;
        last_ns_ = now_ns;
        return interval_.ns ? ended_by_time(now_ns) : ended_by_packets();
    }

    // Number of time intervals that have ended without a packet, after the first packet.
    uint64_t ended_in_silence(uint64_t now_ns)
    {
        return has_packet_ && interval_.ns ? ended_by_time(now_ns) : 0;
    }

    // The value of the reference when these intervals ended: with packet i of the batch, or before
    // it.
    int read(const mapi_reference *reference, uint32_t i, uint64_t *value) const
    {
        return interval_.ns ? mapi_reference_read_before(reference, i, value)
                            : mapi_reference_read(reference, i, value);
    }

    // End of the interval that ended `back` intervals before the last one.
    uint64_t end_ns(uint64_t back) const
    {
        return interval_.ns ? begin_ns_ - back * interval_.ns : last_ns_;
    }

    // The interval that is cut off by the end of the packets: whether it contains a packet, and
    // when it ends.
    bool has_rest() const { return has_packet_ && (interval_.ns || packets_ > 0); }
    uint64_t rest_end_ns() const { return interval_.ns ? begin_ns_ + interval_.ns : last_ns_; }

    bool is_timed() const { return interval_.ns != 0; }

    // How many of the ended intervals to report one by one; the rest of a long pause is reported as
    // one jump.
    uint64_t reported(uint64_t ended, uint64_t most = kReportedMax)
    {
        if (ended > most)
            count_jump();
        return std::min(ended, most);
    }
    // Any thread.  Counts steps back, and pauses that were not reported to their end.
    uint64_t time_jumps() const { return time_jumps_.load(std::memory_order_relaxed); }

    static constexpr uint64_t kReportedMax = 65536;

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
    uint64_t begin_ns_ = 0; // of the current interval
    uint64_t last_ns_ = 0;  // of the last packet
    uint64_t packets_ = 0;  // since the last interval ended
    std::atomic<uint64_t> time_jumps_ = 0;
};
} // namespace mapi::functions
