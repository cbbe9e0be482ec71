// SPDX-License-Identifier: MIT
// Wall clock: the time of day in microseconds, as results carry it.
#pragma once

#include <cstdint>

#include <time.h>

namespace mapi::engine
{
inline uint64_t now_us()
{
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    return uint64_t(now.tv_sec) * 1000000 + uint64_t(now.tv_nsec) / 1000;
}
} // namespace mapi::engine
