// SPDX-License-Identifier: MIT
// Wall clock: the time since 1970, in microseconds as in results or in nanoseconds as in packets.
#pragma once

#include <cstdint>

#include <time.h>

namespace mapi::engine
{
inline uint64_t now_ns()
{
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

inline uint64_t now_us()
{
    return now_ns() / 1000;
}
} // namespace mapi::engine
