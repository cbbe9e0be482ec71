// SPDX-License-Identifier: MIT
// pace: a rate and the clock -> whether the next packet is due.
//
// The schedule is absolute: a packet that leaves late does not delay the next.  After a stall, such
// as a thread that had no CPU, it is caught up at no more than twice the rate; what is more than
// kGiveUp late is never sent, but counted.  live/live_program.cpp does the same inside the kernel.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mapi_gen
{
// Time is counted in parts of a nanosecond: at 15 million packets per second, whole ones would be
// wrong by 1 %.  64 bits of them last 200 days.
using Ticks = uint64_t;
constexpr unsigned kTickShift = 10;
constexpr Ticks ticks(uint64_t nanoseconds)
{
    return nanoseconds << kTickShift;
}
constexpr double kMostSeconds = 1e7;

constexpr Ticks kGiveUp = ticks(100'000'000);
constexpr Ticks kBurst = ticks(200'000); // may leave at once while it catches up

// Of all threads together.  Both 0: as fast as possible.
struct Rate {
    double packets_per_s = 0;
    double bits_per_s = 0;

    bool is_given() const { return packets_per_s > 0 || bits_per_s > 0; }
};

// The time from a packet of that size to the next of the same thread; at least 1 tick.
Ticks cost_of(const Rate &rate, uint64_t wire_bytes, unsigned threads);

class Pace
{
public:
    explicit Pace(Ticks first) : next_(first) {}

    // Times are since the start of all threads.
    Ticks due() const { return std::max(next_, soonest_); }

    // A packet leaves; `now` is not before due().
    void take(Ticks now, Ticks cost)
    {
        if (now > kGiveUp && next_ < now - kGiveUp) {
            given_up_ += now - kGiveUp - next_;
            next_ = now - kGiveUp;
        }
        next_ += cost;
        soonest_ = std::max(soonest_, now > kBurst ? now - kBurst : 0) + cost / 2;
    }

    Ticks given_up() const { return given_up_; }

private:
    Ticks next_;         // by the schedule
    Ticks soonest_ = 0;  // by the limit for catching up
    Ticks given_up_ = 0; // of the schedule
};
} // namespace mapi_gen
