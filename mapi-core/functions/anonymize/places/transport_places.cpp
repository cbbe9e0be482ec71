// SPDX-License-Identifier: MIT
// Transport places: fields of TCP, UDP, ICMP and ICMPv6 headers in every layer.
#include <algorithm>

#include <netinet/in.h>

#include "anonymize/bytes.hpp"
#include "anonymize/places/places.hpp"

namespace mapi::anonymize
{
namespace
{
constexpr uint32_t kTcpBytes = 20;
constexpr uint32_t kUdpBytes = 8;
constexpr uint32_t kIcmpBytes = 8;
constexpr uint16_t kFtpPort = 21;

struct Position {
    uint32_t offset;
    uint32_t bytes; // 0: the header has no such field
};

Position tcp_position(Field field)
{
    switch (field) {
    case Field::kSourcePort: return {0, 2};
    case Field::kDestinationPort: return {2, 2};
    case Field::kSequenceNumber: return {4, 4};
    case Field::kAckNumber: return {8, 4};
    case Field::kOffsetAndReserved: return {12, 1};
    case Field::kFlags: return {13, 1};
    case Field::kWindow: return {14, 2};
    case Field::kChecksum: return {16, 2};
    case Field::kUrgentPointer: return {18, 2};
    default: return {0, 0};
    }
}

Position udp_position(Field field)
{
    switch (field) {
    case Field::kSourcePort: return {0, 2};
    case Field::kDestinationPort: return {2, 2};
    case Field::kUdpLength: return {4, 2};
    case Field::kChecksum: return {6, 2};
    default: return {0, 0};
    }
}

Position icmp_position(Field field)
{
    switch (field) {
    case Field::kType: return {0, 1};
    case Field::kCode: return {1, 1};
    case Field::kChecksum: return {2, 2};
    default: return {0, 0};
    }
}

// As given in the header, or the minimum if that is inconsistent: then payload follows.
uint32_t tcp_header_bytes(const mapi_packet &packet, const IpLayer &layer)
{
    const uint32_t there = layer.end - layer.transport;
    const uint32_t reported =
        there > 12 ? (packet.data[layer.transport + 12] >> 4) * 4u : kTcpBytes;
    return reported < kTcpBytes || reported > there ? kTcpBytes : reported;
}

bool is_carried(Protocol protocol, const IpLayer &layer)
{
    switch (protocol) {
    case Protocol::kTcp: return layer.protocol == IPPROTO_TCP;
    case Protocol::kUdp: return layer.protocol == IPPROTO_UDP;
    case Protocol::kIcmp: return layer.protocol == IPPROTO_ICMP || layer.protocol == IPPROTO_ICMPV6;
    default: return false;
    }
}

uint32_t header_bytes(Protocol protocol, const mapi_packet &packet, const IpLayer &layer)
{
    if (layer.is_later_fragment) // consists entirely of payload
        return 0;
    if (protocol == Protocol::kTcp)
        return tcp_header_bytes(packet, layer);
    return protocol == Protocol::kUdp ? kUdpBytes : kIcmpBytes;
}

Position position_of(Protocol protocol, Field field)
{
    if (protocol == Protocol::kTcp)
        return tcp_position(field);
    return protocol == Protocol::kUdp ? udp_position(field) : icmp_position(field);
}
} // namespace

void find_transport_places(Protocol protocol, Field field, const mapi_packet &packet,
                           const Layers &layers, Places &places)
{
    for (const IpLayer &layer : layers.all()) {
        if (!is_carried(protocol, layer))
            continue;
        if (field == Field::kPayload) {
            add_text(places, layer.transport + header_bytes(protocol, packet, layer), layer.end);
        } else if (layer.is_later_fragment) {
            continue;
        } else if (field == Field::kTcpOptions) {
            add_text(places, layer.transport + kTcpBytes,
                     layer.transport + tcp_header_bytes(packet, layer), Shape::kTcpOptions);
        } else if (const Position position = position_of(protocol, field); position.bytes) {
            add_fixed(places, layer.transport + position.offset, position.bytes, layer.end);
        }
    }
}

std::span<const uint8_t> tcp_text(const mapi_packet &packet, const IpLayer &layer)
{
    if (layer.protocol != IPPROTO_TCP || layer.is_later_fragment ||
        layer.end - layer.transport <= kTcpBytes)
        return {};
    const uint32_t begin = layer.transport + tcp_header_bytes(packet, layer);
    return {packet.data + begin, layer.end - begin};
}

int ftp_direction(const mapi_packet &packet, const IpLayer &layer)
{
    if (layer.protocol != IPPROTO_TCP || layer.is_later_fragment || layer.end - layer.transport < 4)
        return -1;
    const uint8_t *ports = packet.data + layer.transport;
    if (half_at(ports + 2) == kFtpPort)
        return 1;
    return half_at(ports) == kFtpPort ? 0 : -1;
}
} // namespace mapi::anonymize
