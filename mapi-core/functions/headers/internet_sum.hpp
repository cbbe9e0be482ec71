// SPDX-License-Identifier: MIT
// Internet sum: bytes -> the checksum of RFC 1071, from parts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mapi::headers
{
// A sum of 16-bit words, not folded yet; `bytes` may be odd.
inline uint64_t sum_of(const uint8_t *at, size_t bytes)
{
    uint64_t sum = 0;
    for (; bytes >= 2; bytes -= 2, at += 2)
        sum += uint64_t(at[0]) << 8 | at[1];
    return bytes ? sum + uint64_t(*at) * 256 : sum;
}

inline uint16_t folded(uint64_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return uint16_t(~sum);
}
} // namespace mapi::headers
