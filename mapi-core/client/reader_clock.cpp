// SPDX-License-Identifier: MIT
// Reader clock: reads the kernel's clock, and derives the counter's rate in between.
#include "client/reader_clock.hpp"

#include <algorithm>

#include "engine/wall_clock.hpp"

namespace mapi::client
{
namespace
{
// Time between two reads from which a rate is computed: long compared to a read, and short enough
// to contain no pause.
constexpr uint64_t kLeastNs = 1000000, kMostNs = 2000000;
constexpr uint64_t kNsPerUs = 1000;
constexpr int kPairs = 3;
} // namespace

// Of several pairs, uses the one whose reads are closest together: a thread that is preempted
// between them would get a wrong rate.
ReaderClock::Pair ReaderClock::read_pair()
{
    Pair best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < kPairs; ++i) {
        const uint64_t before = counter_ticks();
        const uint64_t ns = engine::now_ns();
        const uint64_t between = counter_ticks() - before;
        if (between < least)
            best = {before + between / 2, ns};
        least = std::min(least, between);
    }
    return best;
}

void ReaderClock::look()
{
    const auto [ticks, ns] = read_pair();
    const uint64_t passed_ns = ns - ns_; // very large if the clock was set back
    const uint64_t passed_ticks = ticks - ticks_;
    if (passed_ns < kLeastNs && window_ticks_ == 0) // the last read remains the start
        return;
    const bool is_known = passed_ns >= kLeastNs && passed_ns <= kMostNs && passed_ticks != 0 &&
                          passed_ticks >> 32 == 0;
    rate_ = is_known ? (passed_ns << 32) / kNsPerUs / passed_ticks : 0;
    window_ticks_ = is_known ? passed_ticks : 0;
    ticks_ = ticks;
    ns_ = ns;
    us_ = ns / kNsPerUs;
    fraction_ = (ns % kNsPerUs << 32) / kNsPerUs;
}
} // namespace mapi::client
