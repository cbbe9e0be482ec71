// SPDX-License-Identifier: MIT
// export: ticks of a trace -> nanoseconds of CLOCK_MONOTONIC, the clock that viewers can relate to
// other traces of the machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "decode/clock.hpp"

namespace nsdump
{
class MonotonicTime
{
public:
    explicit MonotonicTime(const Clock &clock)
        : start_ticks_(clock.start_ticks), start_ns_(clock.start_mono_ns),
          ns_per_tick_(clock.hz > 0 ? clock.ns_per_tick() : 1)
    {
    }
    // Rounded down, so that the order of times is kept.  None for times that a viewer's signed
    // 64-bit number cannot hold.
    std::optional<uint64_t> ns(uint64_t ticks) const
    {
        const auto since_start = double(int64_t(ticks - start_ticks_));
        const double since_start_ns = std::floor(since_start * ns_per_tick_);
        const double about_ns = double(start_ns_) + since_start_ns;
        if (!(about_ns >= 0 && about_ns < 0x1p63 && std::fabs(since_start_ns) < 0x1p63))
            return std::nullopt;
        return start_ns_ +
               uint64_t(int64_t(since_start_ns)); // exact, however long the machine runs
    }
    double duration_ns(double ticks) const { return ticks * ns_per_tick_; }

private:
    uint64_t start_ticks_;
    uint64_t start_ns_;
    double ns_per_tick_; // 1 if the clock's rate is not in the trace
};
} // namespace nsdump
