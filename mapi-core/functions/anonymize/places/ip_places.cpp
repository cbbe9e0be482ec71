// SPDX-License-Identifier: MIT
// IP places: fields of IPv4 and IPv6 headers in every layer, and addresses in ARP.
#include <array>

#include <net/ethernet.h>
#include <netinet/in.h>

#include "anonymize/bytes.hpp"
#include "anonymize/places/named_addresses.hpp"
#include "anonymize/places/places.hpp"

namespace mapi::anonymize
{
namespace
{
constexpr uint32_t kIpv4Bytes = 20;

struct Position {
    uint32_t offset;
    uint32_t bytes; // 0: the header has no such field
};

Position ipv4_position(Field field)
{
    switch (field) {
    case Field::kTos: return {1, 1};
    case Field::kPacketLength: return {2, 2};
    case Field::kId: return {4, 2};
    case Field::kFragmentOffset: return {6, 2};
    case Field::kTtl: return {8, 1};
    case Field::kIpProtocol: return {9, 1};
    case Field::kChecksum: return {10, 2};
    case Field::kSourceAddress: return {12, 4};
    case Field::kDestinationAddress: return {16, 4};
    default: return {0, 0};
    }
}

Position ipv6_position(Field field)
{
    switch (field) {
    case Field::kPacketLength: return {4, 2};
    case Field::kIpProtocol: return {6, 1};
    case Field::kTtl: return {7, 1};
    case Field::kSourceAddress: return {8, 16};
    case Field::kDestinationAddress: return {24, 16};
    default: return {0, 0};
    }
}

// IPv6 has identification and offset in an extension header (RFC 8200 4.5).
void add_of_fragment_header(Field field, const IpLayer &layer, Places &places)
{
    if (layer.fragment == 0)
        return;
    if (field == Field::kId)
        add_fixed(places, layer.fragment + 4, 4, layer.end);
    else
        add_fixed(places, layer.fragment + 2, 2, layer.end);
}

void add_ipv4(Field field, const mapi_packet &packet, const IpLayer &layer, Places &places)
{
    if (field == Field::kOptions) {
        const uint32_t header_bytes = (packet.data[layer.offset] & 15u) * 4;
        add_text(places, layer.offset + kIpv4Bytes, layer.offset + header_bytes, Shape::kIpOptions);
    } else if (const Position position = ipv4_position(field); position.bytes) {
        add_fixed(places, layer.offset + position.offset, position.bytes, layer.transport);
    }
}

void add_ipv6(Field field, const IpLayer &layer, Places &places)
{
    if (field == Field::kTos || field == Field::kFlow) {
        add_fixed(places, layer.offset, 4, layer.end);
        places.back().shape = field == Field::kTos ? Shape::kTrafficClass : Shape::kFlowLabel;
    } else if (field == Field::kId || field == Field::kFragmentOffset) {
        add_of_fragment_header(field, layer, places);
    } else if (const Position position = ipv6_position(field); position.bytes) {
        add_fixed(places, layer.offset + position.offset, position.bytes, layer.transport);
    }
}

// Sender and target count as source and destination (RFC 826).
void add_arp(Field field, const mapi_packet &packet, uint32_t offset, Places &places)
{
    constexpr uint32_t kArpBytes = 8, kAddressBytes = 4;
    if (offset + kArpBytes > packet.caplen)
        return;
    const uint8_t *arp = packet.data + offset;
    const uint32_t hardware_bytes = arp[4];
    if (half_at(arp + 2) != ETHERTYPE_IP || arp[5] != kAddressBytes)
        return;
    const uint32_t sender = offset + kArpBytes + hardware_bytes;
    const bool is_sender = field == Field::kSourceAddress;
    add_fixed(places, is_sender ? sender : sender + kAddressBytes + hardware_bytes, kAddressBytes,
              packet.caplen);
}

void add_of_layers(Field field, const mapi_packet &packet, const Layers &layers, Places &places)
{
    for (const IpLayer &layer : layers.all()) {
        if (layer.version == 4)
            add_ipv4(field, packet, layer, places);
        else
            add_ipv6(field, layer, places);
    }
    if (field != Field::kSourceAddress && field != Field::kDestinationAddress)
        return;
    find_named_addresses(field, packet, layers, places);
    if (layers.arp)
        add_arp(field, packet, *layers.arp, places);
}
} // namespace

void find_ip_places(Field field, const mapi_packet &packet, const Layers &layers, Places &places)
{
    if (field == Field::kPayload) {
        if (layers.count > 0) // it contains all others
            add_text(places, layers.ip[0].transport, layers.ip[0].end);
    } else if (field == Field::kBothAddresses) {
        add_of_layers(Field::kSourceAddress, packet, layers, places);
        add_of_layers(Field::kDestinationAddress, packet, layers, places);
    } else {
        add_of_layers(field, packet, layers, places);
    }
}
} // namespace mapi::anonymize
