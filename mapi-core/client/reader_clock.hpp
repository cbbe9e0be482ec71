// SPDX-License-Identifier: MIT
// Reader clock: the time of day in microseconds, for a thread that needs it millions of times a
// second.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace mapi::client
{
// The kernel's clock, extended between two reads by the processor's counter at the rate of the last
// reads: for less than two milliseconds, so that a time is accurate to the microsecond, and
// reflects a change of the clock within that time.
class ReaderClock
{
public:
    // False: the kernel's clock must be read.
    bool try_now(uint64_t &us) const
    {
        const uint64_t passed = counter_ticks() - ticks_; // very large if the counter was set back
        us = us_ + ((fraction_ + passed * rate_) >> 32);
        return passed < window_ticks_;
    }
    void look();

private:
    struct Pair {
        uint64_t ticks;
        uint64_t ns;
    };
    static Pair read_pair();
    static uint64_t counter_ticks()
    {
#if defined(__x86_64__)
        return __rdtsc();
#else
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
#endif
    }
    uint64_t ticks_ = 0;        // at the last read
    uint64_t window_ticks_ = 0; // after it; 0: the rate is unknown
    uint64_t rate_ = 0;         // 2^-32 us per tick
    uint64_t us_ = 0;           // at the last read,
    uint64_t fraction_ = 0;     // plus 2^-32 us
    uint64_t ns_ = 0;           // at the last read
};
} // namespace mapi::client
