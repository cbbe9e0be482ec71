// SPDX-License-Identifier: MIT
// Bytes in network byte order.
#pragma once

#include <cstdint>

namespace mapi::anonymize
{
inline uint16_t half_at(const uint8_t *at)
{
    return uint16_t(at[0] << 8 | at[1]);
}

inline void put_half(uint8_t *at, uint32_t value)
{
    at[0] = uint8_t(value >> 8);
    at[1] = uint8_t(value);
}

inline uint32_t word_at(const uint8_t *at)
{
    return uint32_t(half_at(at)) << 16 | half_at(at + 2);
}

inline void put_word(uint8_t *at, uint32_t value)
{
    put_half(at, value >> 16);
    put_half(at + 2, value & 0xffff);
}
} // namespace mapi::anonymize
