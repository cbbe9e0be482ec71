// SPDX-License-Identifier: MIT
// A field as filter programs load it: bytes at a fixed offset, or after a header that contains its
// own length; and a test of it.
#pragma once

#include <compare>
#include <cstdint>

#include <mapi/packet.h>

namespace mapi::match
{
// The rest of a packet from some position; left uninitialized where an array of it is filled at
// once.
struct PacketRest {
    const uint8_t *data;
    uint64_t bytes;
};

struct PacketField {
    static constexpr uint32_t kNoHeader = ~0u;

    uint32_t offset = 0;         // from the frame's first byte, or from the end of the header
    uint32_t header = kNoHeader; // offset of the byte whose low four bits are the header length in
                                 // 4-byte words (IPv4's)
    uint32_t mask = 0;           // applied to the value
    uint32_t bytes = 0;          // 1, 2 or 4, in network byte order

    auto operator<=>(const PacketField &) const = default;

    // The rest of the packet from where the offset counts; empty if the packet ends before that is
    // known.
    PacketRest after_header(const mapi_packet &packet) const
    {
        if (header == kNoHeader)
            return {packet.data, packet.caplen};
        const uint32_t header_bytes =
            header < packet.caplen ? (packet.data[header] & 0xfu) * 4 : packet.caplen;
        if (header_bytes >= packet.caplen)
            return {packet.data, 0};
        return {packet.data + header_bytes, packet.caplen - header_bytes};
    }
    uint64_t end() const { return uint64_t{offset} + bytes; }
    uint32_t value_at(const uint8_t *data) const
    {
        return bytes == 2 ? value_of<2>(data) : bytes == 4 ? value_of<4>(data) : value_of<1>(data);
    }
    // kBytes must be the size of the field.
    template <uint32_t kBytes> uint32_t value_of(const uint8_t *data) const
    {
        if constexpr (kBytes == 1)
            return data[0] & mask;
        else if constexpr (kBytes == 2)
            return (uint32_t{data[0]} << 8 | data[1]) & mask;
        else
            return (uint32_t{data[0]} << 24 | uint32_t{data[1]} << 16 | uint32_t{data[2]} << 8 |
                    data[3]) &
                   mask;
    }
};

// Passes if the field is in the packet and has the value.
struct FieldTest {
    PacketField field;
    uint32_t value = 0;

    auto operator<=>(const FieldTest &) const = default;

    bool passes(const mapi_packet &packet) const
    {
        const PacketRest rest = field.after_header(packet);
        return rest.bytes >= field.end() && field.value_at(rest.data + field.offset) == value;
    }
};
} // namespace mapi::match
