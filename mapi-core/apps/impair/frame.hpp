// SPDX-License-Identifier: MIT
// frame: what a packet socket delivers -> the bytes that a wire would carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace impair
{
constexpr size_t kTagBytes = 4; // of a VLAN

struct Tag {
    uint16_t protocol; // 0x8100 or 0x88a8
    uint16_t control;
};

// Puts the tag, which the kernel had taken out, back behind the addresses.  The frame grows to the
// front: there must be kTagBytes before it.
std::span<uint8_t> put_tag(std::span<uint8_t> frame, const Tag &tag);

// Writes the checksum of the bytes from `start` on, which the kernel left to a network card, to
// start + offset, where the sum of the pseudo header is.  Returns false if it would be outside.
bool complete_checksum(std::span<uint8_t> frame, size_t start, size_t offset);

// FNV-1a of 64 bits.
uint64_t digest_of(std::span<const uint8_t> frame);
} // namespace impair
