// SPDX-License-Identifier: MIT
// Packets for tests: headers byte by byte, and a packet in memory that may be modified.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "functions/anonymize/anonymizer.hpp"
#include "mapi-core/functions/frame_bytes.hpp"

namespace anonymize_test
{
using namespace frame_bytes;

// 10.0.0.1 to 10.0.0.2, with options of a multiple of 4 bytes.
inline Bytes ipv4(uint8_t protocol, const Bytes &payload, const Bytes &options = {},
                  uint16_t fragment = 0)
{
    const Bytes first{uint8_t(0x45 + options.size() / 4), 0x10};
    return first + half(20 + options.size() + payload.size()) + hex("1234") + half(fragment) +
           Bytes{64, protocol} + hex("bbbb") + hex("0a000001 0a000002") + options + payload;
}

// 2a00:1234::1 to 2a00:1234::2, traffic class 0x5a, flow label 0x12345.
inline Bytes ipv6(uint8_t next, const Bytes &payload)
{
    return hex("65a12345") + half(payload.size()) + Bytes{next, 64} +
           hex("2a001234000000000000000000000001") + hex("2a001234000000000000000000000002") +
           payload;
}

inline Bytes tcp(const Bytes &payload, uint16_t source = 1025, uint16_t destination = 80,
                 const Bytes &options = {})
{
    return half(source) + half(destination) + hex("01020304 05060708") +
           Bytes{uint8_t((5 + options.size() / 4) << 4), 0x18} + hex("2000 cccc 0009") + options +
           payload;
}

inline Bytes udp(const Bytes &payload, uint16_t source = 1025, uint16_t destination = 53)
{
    return half(source) + half(destination) + half(8 + payload.size()) + hex("dddd") + payload;
}

inline Bytes icmp(uint8_t type, const Bytes &payload)
{
    return Bytes{type, 1} + hex("eeee 00000000") + payload;
}

// A packet with spare room after it.
struct Packet {
    Bytes memory;
    mapi::anonymize::MutablePacket packet;

    explicit Packet(const Bytes &bytes, size_t spare = 512, uint16_t link_type = 1) : memory(bytes)
    {
        memory.resize(bytes.size() + spare);
        packet.data = memory.data();
        packet.caplen = packet.wire_len = uint32_t(bytes.size());
        packet.room = uint32_t(memory.size());
        packet.link_type = link_type;
    }
    Packet(const Packet &) = delete;

    Bytes bytes() const { return {packet.data, packet.data + packet.caplen}; }
};

struct Treated {
    Bytes bytes;
    uint32_t wire_len;
    mapi::anonymize::Counts counts;
};

// The packet after the rule, with its own tables.
inline Treated treat(const mapi::anonymize::Rule &rule, const Bytes &bytes, size_t spare = 512,
                     uint16_t link_type = 1)
{
    mapi::anonymize::Tables tables(1);
    mapi::anonymize::Anonymizer anonymizer(rule, tables, 1);
    Packet packet(bytes, spare, link_type);
    anonymizer.apply(packet.packet);
    return {packet.bytes(), packet.packet.wire_len, anonymizer.counts()};
}

inline Treated treat(std::string_view rule, const Bytes &bytes, size_t spare = 512,
                     uint16_t link_type = 1)
{
    return treat(mapi::anonymize::parse_rule(rule), bytes, spare, link_type);
}

// Bytes with zeros from `first` on.
inline Bytes with_zeros(Bytes bytes, size_t first, size_t count)
{
    std::fill_n(bytes.begin() + long(first), count, uint8_t(0));
    return bytes;
}
} // namespace anonymize_test
