// SPDX-License-Identifier: MIT
// Packet fields: every field is read when a rule asks for it; the headers are parsed before.
#include "match/rule/packet_fields.hpp"

#include <algorithm>

#include <netinet/in.h>

#include "headers/headers.hpp"
#include "links/link_head.hpp"
#include "links/link_type.hpp"

namespace mapi::match::rule
{
namespace
{
using Bytes = std::span<const uint8_t>;

constexpr size_t kUdpBytes = 8;
constexpr size_t kIcmpTypeBytes = 4; // type, code, checksum

uint32_t big_16(Bytes bytes, size_t at)
{
    return uint32_t(bytes[at] << 8 | bytes[at + 1]);
}

uint32_t big_32(Bytes bytes, size_t at)
{
    return big_16(bytes, at) << 16 | big_16(bytes, at + 2);
}

// Types whose header has four bytes more, after those of all types.
bool has_long_icmp_header(uint8_t protocol, uint8_t type)
{
    if (protocol == IPPROTO_ICMPV6)
        return true;
    switch (type) {
    case 0:  // echo reply
    case 3:  // unreachable
    case 4:  // source quench
    case 5:  // redirect
    case 8:  // echo
    case 11: // time exceeded
    case 12: // parameter problem
    case 13: // time stamp
    case 14:
    case 15: // information
    case 16:
    case 17: // address mask
    case 18: return true;
    default: return false;
    }
}

// The bytes of the UDP datagram by its own length, which may be shorter than IP's.
Bytes udp_payload(Bytes datagram)
{
    const size_t length = big_16(datagram, 4);
    const size_t end = length < kUdpBytes ? datagram.size() : std::min(length, datagram.size());
    return datagram.subspan(kUdpBytes, end - kUdpBytes);
}

uint32_t options_of(Bytes ip4)
{
    uint32_t found = 0;
    const size_t end = std::min((ip4[0] & 0xf) * size_t{4}, ip4.size());
    for (size_t at = 20; at < end;) {
        found |= option_bit(ip4[at]);
        if (ip4[at] == 0)
            break;
        const size_t bytes = ip4[at] == 1 ? 1 : at + 1 < end ? ip4[at + 1] : 0;
        if (bytes == 0 || (ip4[at] != 1 && bytes < 2))
            break;
        at += bytes;
    }
    return found;
}
} // namespace

PacketFields::PacketFields(const mapi_packet &packet)
{
    if (!read_plain_tcp(packet))
        read_headers(packet);
}

bool PacketFields::read_plain_tcp(const mapi_packet &packet)
{
    constexpr size_t kEthernetBytes = 14, kIpBytes = 20, kTcpBytes = 20;
    constexpr uint8_t kVersionAndWords = 0x45, kFragmentBits = 0x3f;
    if (packet.link_type != links::kEthernet ||
        packet.caplen < kEthernetBytes + kIpBytes + kTcpBytes)
        return false;
    const uint8_t *const ip = packet.data + kEthernetBytes, *const tcp = ip + kIpBytes;
    const bool is_plain = packet.data[12] == 0x08 && packet.data[13] == 0 &&
                          ip[0] == kVersionAndWords && ip[9] == IPPROTO_TCP &&
                          (ip[6] & kFragmentBits) == 0 && ip[7] == 0;
    const size_t total_bytes = big_16({ip, kIpBytes}, 2), tcp_bytes = (tcp[12] >> 4) * size_t{4};
    if (!is_plain || tcp_bytes < kTcpBytes || total_bytes < kIpBytes + tcp_bytes ||
        total_bytes > packet.caplen - kEthernetBytes)
        return false;
    version_ = 4;
    protocol_ = IPPROTO_TCP;
    is_tcp_ = true;
    network_ = {ip, kIpBytes};
    transport_ = {tcp, tcp_bytes};
    payload_ = {tcp + tcp_bytes, total_bytes - kIpBytes - tcp_bytes};
    source_ip4_ = big_32(network_, 12);
    has_same_addresses_ = source_ip4_ == big_32(network_, 16);
    return true;
}

void PacketFields::read_headers(const mapi_packet &packet)
{
    const headers::Headers found = headers::parse(packet);
    const headers::IpLayer *const layer = found.innermost();
    if (found.is_lost || (layer && !headers::has_whole_transport(packet, *layer))) [[unlikely]]
        unread_ = links::is_known(packet) ? Unread::kHeaders : Unread::kLinkType;
    if (!layer)
        return;
    version_ = layer->version;
    protocol_ = layer->protocol;
    network_ = {packet.data + layer->offset, layer->transport - layer->offset};
    const Bytes source = headers::source_of(packet, *layer);
    has_same_addresses_ = std::ranges::equal(source, headers::destination_of(packet, *layer));
    source_ip4_ = version_ == 4 ? big_32(source, 0) : 0;
    if (layer->fragment != 0 && layer->fragment + 8 <= packet.caplen) {
        const uint32_t word = big_16({packet.data + layer->fragment, 8}, 2);
        fragment_ = word >> 3 | (word & 1) << 13;
    }
    const Bytes datagram = headers::datagram_of(packet, *layer);
    payload_ = datagram;
    const auto payload = headers::payload_of(packet, *layer);
    const bool is_icmp = protocol_ == IPPROTO_ICMP || protocol_ == IPPROTO_ICMPV6;
    if (is_icmp && !layer->is_later_fragment && datagram.size() >= kIcmpTypeBytes) {
        is_icmp_ = true;
        transport_ = datagram;
        payload_ = datagram.subspan(kIcmpTypeBytes);
        if (has_long_icmp_header(protocol_, datagram[0]))
            payload_ = payload_.subspan(std::min<size_t>(payload_.size(), 4));
    } else if (payload) {
        is_tcp_ = protocol_ == IPPROTO_TCP;
        transport_ = datagram.first(datagram.size() - payload->size());
        is_udp_ = protocol_ == IPPROTO_UDP;
        payload_ = is_udp_ ? udp_payload(datagram) : *payload;
    } else if (!layer->is_later_fragment && !headers::has_whole_transport(packet, *layer)) {
        payload_ = {};
    }
}

std::optional<uint32_t> PacketFields::value(Field field) const
{
    if (version_ == 0)
        return std::nullopt;
    switch (field) {
    case Field::kPayloadBytes: return uint32_t(payload_.size());
    case Field::kIpProtocol: return protocol_;
    case Field::kHasSameAddresses: return has_same_addresses_;
    case Field::kTtl:
    case Field::kTos:
    case Field::kIpId:
    case Field::kFragmentBits:
    case Field::kFragmentOffset:
    case Field::kIpOption: return version_ == 4 ? ip4_value(field) : ip_value(field);
    default: return transport_value(field);
    }
}

std::optional<uint32_t> PacketFields::ip4_value(Field field) const
{
    switch (field) {
    case Field::kTtl: return network_[8];
    case Field::kTos: return network_[1];
    case Field::kIpId: return big_16(network_, 4);
    case Field::kFragmentBits: return big_16(network_, 6) & 0xe000;
    case Field::kFragmentOffset: return big_16(network_, 6) & 0x1fff;
    default: return options_of(network_);
    }
}

// IPv6: hop limit, traffic class, and what its fragment header has.
std::optional<uint32_t> PacketFields::ip_value(Field field) const
{
    switch (field) {
    case Field::kTtl: return network_[7];
    case Field::kTos: return big_16(network_, 0) >> 4 & 0xff;
    case Field::kFragmentBits: return fragment_ & 0xe000;
    case Field::kFragmentOffset: return fragment_ & 0x1fff;
    default: return std::nullopt;
    }
}

std::optional<uint32_t> PacketFields::transport_value(Field field) const
{
    if (is_tcp_) {
        switch (field) {
        case Field::kTcpFlags: return transport_[13];
        case Field::kTcpSequence: return big_32(transport_, 4);
        case Field::kTcpAcknowledgement: return big_32(transport_, 8);
        case Field::kTcpWindow: return big_16(transport_, 14);
        default: return std::nullopt;
        }
    }
    if (!is_icmp_)
        return std::nullopt;
    const uint8_t type = transport_[0];
    const bool is_echo =
        protocol_ == IPPROTO_ICMP ? type == 0 || type == 8 : type == 128 || type == 129;
    switch (field) {
    case Field::kIcmpType: return type;
    case Field::kIcmpCode: return transport_[1];
    case Field::kIcmpId:
    case Field::kIcmpSequence:
        if (!is_echo || transport_.size() < 8)
            return std::nullopt;
        return big_16(transport_, field == Field::kIcmpId ? 4 : 6);
    default: return std::nullopt;
    }
}

bool passes(const FieldTest &test, uint32_t value)
{
    using enum FieldTest::Comparison;
    switch (test.comparison) {
    case kEqual: return value == test.first;
    case kNotEqual: return value != test.first;
    case kLess: return value < test.first;
    case kGreater: return value > test.first;
    case kLessEqual: return value <= test.first;
    case kGreaterEqual: return value >= test.first;
    case kBetween: return value > test.first && value < test.second;
    case kWithin: return value >= test.first && value <= test.second;
    case kBitsAre: return (value & ~test.second) == test.first;
    case kAllBits: return (value & ~test.second & test.first) == test.first;
    case kAnyBit: return (value & ~test.second & test.first) != 0;
    case kNoBit: return (value & ~test.second & test.first) == 0;
    }
    return false;
}
} // namespace mapi::match::rule
