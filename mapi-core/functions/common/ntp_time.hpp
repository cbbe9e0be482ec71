// SPDX-License-Identifier: MIT
// NTP time: nanoseconds since 1970 -> seconds since 1900 << 32 | fraction, MAPI's time format (RFC
// 5905 6).
#pragma once

#include <cstdint>

namespace mapi::functions
{
// Stands for a time or span that cannot be represented: seconds have 32 bits, from 1970 up to 2106
// (RFC 5905: era 1 begins in 2036).
constexpr uint64_t kNoNtpTime = UINT64_MAX;

inline bool has_ntp_time(uint64_t ns)
{
    constexpr uint64_t kEndNs = (uint64_t(1) << 32) * 1000000000;
    return ns < kEndNs;
}

// Rounded down to 2^-32 s, an error of at most 0.24 ns.
inline uint64_t ntp_fraction(uint64_t ns)
{
    constexpr uint64_t kNsPerSecond = 1000000000;
    return has_ntp_time(ns) ? ns / kNsPerSecond << 32 | (ns % kNsPerSecond << 32) / kNsPerSecond
                            : kNoNtpTime;
}

// The smallest time with this fraction; inverts ntp_fraction().
inline uint64_t ns_of_ntp_fraction(uint64_t fraction)
{
    constexpr uint64_t kNsPerSecond = 1000000000;
    return (fraction >> 32) * kNsPerSecond +
           (((fraction & UINT32_MAX) * kNsPerSecond + UINT32_MAX) >> 32);
}

inline uint64_t ntp_time(uint64_t ns_since_1970)
{
    constexpr uint64_t kSecondsFrom1900 = 2208988800;
    return has_ntp_time(ns_since_1970) ? ntp_fraction(ns_since_1970) + (kSecondsFrom1900 << 32)
                                       : kNoNtpTime;
}
} // namespace mapi::functions
