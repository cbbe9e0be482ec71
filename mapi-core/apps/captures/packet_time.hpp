// SPDX-License-Identifier: MIT
// packet_time: MAPI's times of packets -> nanoseconds.
#pragma once

#include <cstdint>

namespace captures_source
{
// Nanoseconds since 1970 of a time as in struct mapipkt.  The seconds have 32 bits: those before
// 1970 are of the next era, from 2036 on.  The time is that of the packet, since MAPI rounds down
// to units of 2^-32 s.
inline uint64_t ns_of_ntp(uint64_t ntp)
{
    constexpr uint64_t kSecondsFrom1900 = 2208988800, kNsPerSecond = 1000000000;
    const uint64_t seconds = ((ntp >> 32) - kSecondsFrom1900) & UINT32_MAX;
    const uint64_t fraction = ntp & UINT32_MAX;
    return seconds * kNsPerSecond + ((fraction * kNsPerSecond + UINT32_MAX) >> 32);
}
} // namespace captures_source
