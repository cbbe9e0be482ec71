// SPDX-License-Identifier: MIT
// Frame bytes: packets for tests, byte by byte.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace frame_bytes
{
using Bytes = std::vector<uint8_t>;

// Two hexadecimal digits per byte, blanks anywhere.
inline Bytes hex(std::string_view text)
{
    Bytes bytes;
    std::string digits;
    for (const char c : text) {
        if (c == ' ')
            continue;
        digits += c;
        if (digits.size() == 2) {
            bytes.push_back(uint8_t(std::strtoul(digits.c_str(), nullptr, 16)));
            digits.clear();
        }
    }
    return bytes;
}

inline Bytes text(std::string_view string)
{
    return {string.begin(), string.end()};
}

inline Bytes operator+(Bytes left, const Bytes &right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

inline Bytes half(size_t value)
{
    return {uint8_t(value >> 8), uint8_t(value)};
}

inline Bytes ethernet(uint16_t type, const Bytes &payload)
{
    return hex("020000000002 020000000001") + half(type) + payload;
}
} // namespace frame_bytes
