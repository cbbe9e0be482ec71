// SPDX-License-Identifier: MIT
// The program's clock -> the clock of packets' time stamps.
#pragma once

#include <cstdint>
#include <ctime>

namespace mapi::drivers::xdp
{
inline uint64_t clock_ns(clockid_t clock)
{
    timespec now = {};
    clock_gettime(clock, &now);
    return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

// To be added to a time of CLOCK_MONOTONIC.
inline uint64_t monotonic_to_real_ns()
{
    return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}
} // namespace mapi::drivers::xdp
