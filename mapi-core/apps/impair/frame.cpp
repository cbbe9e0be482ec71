// SPDX-License-Identifier: MIT
// frame: what a packet socket delivers -> the bytes that a wire would carry.
#include "frame.hpp"

#include <cstring>

namespace impair
{
namespace
{
constexpr size_t kAddressBytes = 12;

void put_16(uint8_t *place, uint16_t value)
{
    place[0] = uint8_t(value >> 8);
    place[1] = uint8_t(value);
}
} // namespace

std::span<uint8_t> put_tag(std::span<uint8_t> frame, const Tag &tag)
{
    if (frame.size() < kAddressBytes)
        return frame;
    uint8_t *const begin = frame.data() - kTagBytes;
    std::memmove(begin, frame.data(), kAddressBytes);
    put_16(begin + kAddressBytes, tag.protocol);
    put_16(begin + kAddressBytes + 2, tag.control);
    return {begin, frame.size() + kTagBytes};
}

bool complete_checksum(std::span<uint8_t> frame, size_t start, size_t offset)
{
    const size_t place = start + offset;
    if (place < start || place + 2 > frame.size())
        return false;
    uint64_t sum = 0;
    size_t at = start;
    for (; at + 1 < frame.size(); at += 2)
        sum += uint64_t(frame[at]) << 8 | frame[at + 1];
    if (at < frame.size())
        sum += uint64_t(frame[at]) << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    const auto checksum = uint16_t(~sum);
    put_16(&frame[place], checksum ? checksum : 0xffff); // 0 would mean: UDP without checksum
    return true;
}

uint64_t digest_of(std::span<const uint8_t> frame)
{
    uint64_t digest = 0xcbf29ce484222325U;
    for (const uint8_t byte : frame)
        digest = (digest ^ byte) * 0x100000001b3U;
    return digest;
}
} // namespace impair
