// SPDX-License-Identifier: MIT
// Flow packet: a packet -> the flow that it belongs to, by the addresses and ports of its innermost IP header.
#pragma once

#include <cstdint>
#include <utility>

#include <mapi/packet.h>

#include "headers/headers.hpp"

namespace mapi::functions
{
// One direction of a conversation.  No padding, the same bytes for the same flow.
struct FlowKey {
    uint8_t source[16]; // in network byte order, 4 or 16 bytes of each; zeros behind
    uint8_t destination[16];
    uint16_t source_port; // 0: the protocol has none, or a later fragment or the capture's end hides them
    uint16_t destination_port;
    uint8_t protocol; // IPPROTO_
    uint8_t version;  // 4 or 6
    // Zero but where they are to tell flows apart, too.
    uint16_t vlan; // of the outermost tag
    uint16_t interface; // on which the packet came
    uint16_t reserved[3]; // zero: whole words are compared faster
};
static_assert(sizeof(FlowKey) == 48);

// The other direction.
inline FlowKey reversed(const FlowKey &key)
{
    FlowKey other = key;
    std::swap(other.source, other.destination);
    std::swap(other.source_port, other.destination_port);
    return other;
}

// A view of the packet, for as long as that lives.
class FlowPacket
{
public:
    explicit FlowPacket(const mapi_packet &packet) : packet(packet), headers(headers::parse(packet)), ip(headers.innermost()) {}

    bool has_flow() const { return ip != nullptr; }
    // All below need a flow.
    // Of addresses, ports and protocol.
    FlowKey key() const;
    // Of the innermost IP packet by its own length, as other exporters count it (octetDeltaCount, RFC 5102): it may be more than was captured,
    // or than the frame had.  Where the header has none, what the wire had.
    uint32_t ip_bytes() const;
    uint32_t ip_header_bytes() const;
    uint8_t ttl() const { return at_ip(ip->version == 4 ? 8 : 7); } // or hop limit
    uint8_t type_of_service() const; // or traffic class

    uint8_t at_ip(uint32_t offset) const { return packet.data[ip->offset + offset]; }
    uint16_t half_at_ip(uint32_t offset) const { return uint16_t(at_ip(offset) << 8 | at_ip(offset + 1)); }

    const mapi_packet &packet;
    const headers::Headers headers;
    const headers::IpLayer *const ip;
};
} // namespace mapi::functions
