// SPDX-License-Identifier: MIT
// Interval clock: packets' times -> how many intervals have ended.
#pragma once

#include <cstdint>

namespace mapi::functions
{
// The first interval begins with the first packet.  Times that go back end none.
class IntervalClock
{
public:
    explicit IntervalClock(uint64_t interval_ns) : interval_ns_(interval_ns) {}

    // Intervals that ended since the last call, before a packet of this time.
    uint64_t ended(uint64_t now_ns)
    {
        if (begin_ns_ == 0)
            begin_ns_ = now_ns;
        if (now_ns < begin_ns_ || now_ns - begin_ns_ < interval_ns_)
            return 0;
        const uint64_t intervals = (now_ns - begin_ns_) / interval_ns_;
        begin_ns_ += intervals * interval_ns_;
        return intervals;
    }

    // Of the interval that goes on; 0 before the first packet.
    uint64_t begin_ns() const { return begin_ns_; }
    uint64_t interval_ns() const { return interval_ns_; }

private:
    const uint64_t interval_ns_;
    uint64_t begin_ns_ = 0;
};
} // namespace mapi::functions
