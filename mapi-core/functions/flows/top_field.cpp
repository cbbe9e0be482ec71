// SPDX-License-Identifier: MIT
// Top field: offsets and widths as in RFC 791, RFC 8200, RFC 9293 and RFC 768.
#include "functions/flows/top_field.hpp"

#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

#include <mapi/topx.h>

#include "headers/headers.hpp"

namespace mapi::functions
{
namespace
{
constexpr uint16_t kTcpFlags = 0x0fff;
constexpr uint16_t kIpv4Offset = 0x1fff; // in 8-byte blocks
constexpr uint16_t kIpv6Offset = 0xfff8; // in bytes
constexpr uint32_t kIpv6Bytes = 40;

uint32_t half(const uint8_t *at)
{
    return uint32_t(at[0]) << 8 | at[1];
}

uint32_t word(const uint8_t *at)
{
    return half(at) << 16 | half(at + 2);
}

std::optional<FieldValue> number(uint32_t value)
{
    return FieldValue{value};
}

std::optional<FieldValue> address(std::span<const uint8_t> bytes)
{
    FieldValue value;
    if (bytes.size() == sizeof(value.address6)) {
        value.family = AF_INET6;
        memcpy(value.address6.data(), bytes.data(), bytes.size());
    } else {
        value.family = AF_INET;
        memcpy(&value.value, bytes.data(), sizeof(value.value));
    }
    return value;
}

// The walk has verified that the whole header, without options, is present.
std::optional<FieldValue> ipv4_field(const uint8_t *header, int field)
{
    switch (field) {
    case TOPX_IP_TOS: return number(header[1]);
    case TOPX_IP_LENGTH: return number(half(header + 2));
    case TOPX_IP_ID: return number(half(header + 4));
    case TOPX_IP_OFFSET: return number((half(header + 6) & kIpv4Offset) * 8);
    case TOPX_IP_TTL: return number(header[8]);
    case TOPX_IP_CHECKSUM: return number(half(header + 10));
    default: return std::nullopt;
    }
}

// fragment: the fragment header, or null if there is none.
std::optional<FieldValue> ipv6_field(const uint8_t *header, const uint8_t *fragment, int field)
{
    switch (field) {
    case TOPX_IP_TOS: return number(half(header) >> 4 & 0xff);
    case TOPX_IP_LENGTH: return number(kIpv6Bytes + half(header + 4));
    case TOPX_IP_ID: return fragment ? number(word(fragment + 4)) : std::nullopt;
    case TOPX_IP_OFFSET: return number(fragment ? half(fragment + 2) & kIpv6Offset : 0);
    case TOPX_IP_TTL: return number(header[7]);
    default: return std::nullopt;
    }
}

std::optional<FieldValue> ip_field(const mapi_packet &packet, const headers::IpLayer &ip, int field)
{
    switch (field) {
    case TOPX_IP_PROTOCOL: return number(ip.protocol);
    case TOPX_IP_SRCIP: return address(headers::source_of(packet, ip));
    case TOPX_IP_DSTIP: return address(headers::destination_of(packet, ip));
    default: break;
    }
    const uint8_t *header = packet.data + ip.offset;
    return ip.version == 4
               ? ipv4_field(header, field)
               : ipv6_field(header, ip.fragment ? packet.data + ip.fragment : nullptr, field);
}

// Position of a TCP or UDP field in its header.
struct Place {
    uint8_t offset, bytes;
};

Place place_of(int field)
{
    switch (field) {
    case TOPX_TCP_SRCPORT: return {0, 2};
    case TOPX_TCP_DSTPORT: return {2, 2};
    case TOPX_TCP_SEQ: return {4, 4};
    case TOPX_TCP_ACK: return {8, 4};
    case TOPX_TCP_FLAGS: return {12, 2};
    case TOPX_TCP_WIN: return {14, 2};
    case TOPX_TCP_CRC: return {16, 2};
    case TOPX_TCP_URGENT: return {18, 2};
    case TOPX_UDP_SRCPORT: return {0, 2};
    case TOPX_UDP_DSTPORT: return {2, 2};
    case TOPX_UDP_LENGTH: return {4, 2};
    default: return {6, 2}; // TOPX_UDP_CHECKSUM
    }
}

std::optional<FieldValue> transport_field(const mapi_packet &packet, const headers::IpLayer &ip,
                                          int field)
{
    const Place place = place_of(field);
    const auto datagram = headers::datagram_of(packet, ip);
    if (ip.is_later_fragment || datagram.size() < size_t(place.offset) + place.bytes)
        return std::nullopt;
    const uint8_t *at = datagram.data() + place.offset;
    if (field == TOPX_TCP_FLAGS)
        return number(half(at) & kTcpFlags);
    return number(place.bytes == 4 ? word(at) : half(at));
}
} // namespace

bool is_field_of(int64_t protocol, int64_t field)
{
    switch (protocol) {
    case TOPX_IP: return field >= TOPX_IP_TOS && field <= TOPX_IP_DSTIP;
    case TOPX_TCP: return field >= TOPX_TCP_SRCPORT && field <= TOPX_TCP_URGENT;
    case TOPX_UDP: return field >= TOPX_UDP_SRCPORT && field <= TOPX_UDP_CHECKSUM;
    default: return false;
    }
}

std::optional<FieldValue> read_field(const mapi_packet &packet, const headers::Headers &headers,
                                     int protocol, int field)
{
    const headers::IpLayer *ip = headers.innermost();
    if (!ip)
        return std::nullopt;
    if (protocol == TOPX_IP)
        return ip_field(packet, *ip, field);
    if (ip->protocol != (protocol == TOPX_TCP ? IPPROTO_TCP : IPPROTO_UDP))
        return std::nullopt;
    return transport_field(packet, *ip, field);
}
} // namespace mapi::functions
