// SPDX-License-Identifier: MIT
// A frame for tests of COOKING's parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "functions/cooking/segment.hpp"

namespace mapi::cooking
{
constexpr uint32_t kHeadBytes = 54;

// Ethernet, IPv4, TCP from 10.0.0.1:1000 to 10.0.0.2:80.
inline std::vector<uint8_t> frame(const std::string &payload = "")
{
    std::vector<uint8_t> bytes(kHeadBytes);
    bytes[12] = 8;
    const uint8_t ip[] = {
        0x45, 0, 0, uint8_t(40 + payload.size()), 0, 7, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10,
        0,    0, 2};
    const uint8_t tcp[] = {0x03, 0xe8, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, kAck};
    std::copy(std::begin(ip), std::end(ip), bytes.begin() + 14);
    std::copy(std::begin(tcp), std::end(tcp), bytes.begin() + 34);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return bytes;
}
} // namespace mapi::cooking
