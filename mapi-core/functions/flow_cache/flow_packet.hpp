// SPDX-License-Identifier: MIT
// Flow packet: a packet -> the flow that it belongs to, by the addresses and ports of its innermost
// IP header.
#pragma once

#include <cstdint>
#include <utility>

#include <mapi/packet.h>

#include "headers/headers.hpp"

namespace mapi::functions
{
// One direction of a conversation.  No padding, the same bytes for the same flow.
struct FlowKey {
    uint8_t source[16]; // in network byte order, 4 or 16 bytes each; then zeros
    uint8_t destination[16];
    uint16_t source_port; // 0: no ports in the protocol, a later fragment, or truncated
    uint16_t destination_port;
    uint8_t protocol; // IPPROTO_
    uint8_t version;  // 4 or 6
    // Zero unless they also distinguish flows.
    uint16_t vlan;        // of the outermost tag
    uint16_t interface;   // where the packet arrived
    uint16_t reserved[3]; // zero: whole words compare faster
};
static_assert(sizeof(FlowKey) == 48);

// The reverse direction.
inline FlowKey reversed(const FlowKey &key)
{
    FlowKey other = key;
    std::swap(other.source, other.destination);
    std::swap(other.source_port, other.destination_port);
    return other;
}

// A view of the packet, valid as long as the packet.
class FlowPacket
{
public:
    explicit FlowPacket(const mapi_packet &packet)
        : packet(packet), headers(headers::parse(packet)), ip(headers.innermost())
    {
    }

    bool has_flow() const { return ip != nullptr; }
    // Members below require a flow.
    // The key consists of addresses, ports and protocol.
    FlowKey key() const;
    // Length of the innermost IP packet according to its header, as other exporters count it
    // (octetDeltaCount, RFC 5102): it may exceed what was captured, or the frame itself.  If the
    // header has no length, that on the wire.
    uint32_t ip_bytes() const;
    uint32_t ip_header_bytes() const;
    uint8_t ttl() const { return at_ip(ip->version == 4 ? 8 : 7); } // or hop limit
    uint8_t type_of_service() const;                                // or traffic class

    uint8_t at_ip(uint32_t offset) const { return packet.data[ip->offset + offset]; }
    uint16_t half_at_ip(uint32_t offset) const
    {
        return uint16_t(at_ip(offset) << 8 | at_ip(offset + 1));
    }

    const mapi_packet &packet;
    const headers::Headers headers;
    const headers::IpLayer *const ip;
};
} // namespace mapi::functions
