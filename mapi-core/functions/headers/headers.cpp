// SPDX-License-Identifier: MIT
// Headers: from the link's first byte inwards.
#include "headers/headers.hpp"

#include <netinet/in.h>

#include "headers/walk.hpp"

namespace mapi::headers
{
namespace
{
constexpr uint32_t kPortsBytes = 4;
constexpr uint8_t kDccp = 33; // IPPROTO_DCCP, which not every C library has

bool has_ports(uint8_t protocol)
{
    return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP ||
           protocol == IPPROTO_UDPLITE || protocol == kDccp;
}

// Returns 0 if the protocol is unknown or the length cannot be read.
uint32_t transport_header_bytes(uint8_t protocol, std::span<const uint8_t> datagram)
{
    constexpr uint32_t kTcpBytes = 20;
    switch (protocol) {
    case IPPROTO_UDP:
    case IPPROTO_UDPLITE:
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6: return 8;
    case IPPROTO_TCP: {
        const uint32_t bytes = datagram.size() < kTcpBytes ? 0 : (datagram[12] >> 4) * 4u;
        return bytes < kTcpBytes ? 0 : bytes;
    }
    default: return 0;
    }
}

std::span<const uint8_t> address_of(const mapi_packet &packet, const IpLayer &layer,
                                    bool is_destination)
{
    const uint32_t bytes = layer.version == 4 ? 4 : 16;
    const uint32_t first = layer.version == 4 ? 12 : 8;
    return {packet.data + layer.offset + first + (is_destination ? bytes : 0), bytes};
}
} // namespace

Headers parse(const mapi_packet &packet) noexcept
{
    Headers headers;
    Walk walk{packet.data, packet.caplen, packet.wire_len};
    begin_link(walk, packet.link_type);
    // Terminates: every step but the last advances by at least a byte, or to a kind that does.
    while (walk.next != Next::kEnd) {
        switch (walk.next) {
        case Next::kEthernet: step_ethernet(walk); break;
        case Next::kEthertype: step_ethertype(walk, headers); break;
        case Next::kPpp: step_ppp(walk); break;
        case Next::kMpls: step_mpls(walk, headers); break;
        case Next::kIp: step_ip(walk, headers); break;
        case Next::kIpPayload: step_ip_payload(walk, headers); break;
        case Next::kEnd: break;
        }
    }
    headers.rest = walk.at;
    headers.is_lost = walk.is_lost;
    return headers;
}

std::span<const uint8_t> source_of(const mapi_packet &packet, const IpLayer &layer) noexcept
{
    return address_of(packet, layer, false);
}

std::span<const uint8_t> destination_of(const mapi_packet &packet, const IpLayer &layer) noexcept
{
    return address_of(packet, layer, true);
}

std::span<const uint8_t> datagram_of(const mapi_packet &packet, const IpLayer &layer) noexcept
{
    return {packet.data + layer.transport, layer.end - layer.transport};
}

std::optional<std::span<const uint8_t>> payload_of(const mapi_packet &packet,
                                                   const IpLayer &layer) noexcept
{
    const auto datagram = datagram_of(packet, layer);
    const uint32_t bytes = transport_header_bytes(layer.protocol, datagram);
    if (bytes == 0 || layer.is_later_fragment || bytes > datagram.size())
        return std::nullopt;
    return datagram.subspan(bytes);
}

bool has_whole_transport(const mapi_packet &packet, const IpLayer &layer) noexcept
{
    if (layer.is_later_fragment)
        return true;
    switch (layer.protocol) {
    case IPPROTO_TCP:
    case IPPROTO_UDP:
    case IPPROTO_UDPLITE:
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6: return payload_of(packet, layer).has_value();
    default: return !has_ports(layer.protocol) || ports_of(packet, layer);
    }
}

std::optional<Ports> ports_of(const mapi_packet &packet, const IpLayer &layer) noexcept
{
    if (!has_ports(layer.protocol) || layer.is_later_fragment ||
        layer.end - layer.transport < kPortsBytes)
        return std::nullopt;
    const uint8_t *at = packet.data + layer.transport;
    return Ports{uint16_t(at[0] << 8 | at[1]), uint16_t(at[2] << 8 | at[3])};
}
} // namespace mapi::headers
