// SPDX-License-Identifier: MIT
// Checksum: innermost headers first, since an ICMP error's checksum covers the packet that it
// quotes.
#include "anonymize/checksum.hpp"

#include <algorithm>

#include <netinet/in.h>

#include "anonymize/bytes.hpp"
#include "headers/end_addresses.hpp"
#include "headers/internet_sum.hpp"

namespace mapi::anonymize
{
namespace
{
using headers::folded;
using headers::sum_of;

constexpr uint32_t kIpv6Bytes = 40;
constexpr uint32_t kUdpBytes = 8;

uint64_t pseudo_header(const headers::EndAddresses &ends, const IpLayer &layer, uint32_t bytes)
{
    return sum_of(ends.bytes.data(), ends.both().size()) + layer.protocol + (bytes >> 16) +
           (bytes & 0xffff);
}

// Whether all bytes that the header announces are present, and none are in other fragments.
bool is_whole(const MutablePacket &packet, const IpLayer &layer)
{
    if (layer.is_fragment)
        return false;
    const uint32_t reported = half_at(packet.data + layer.offset + (layer.version == 4 ? 2 : 4));
    if (reported == 0)
        return packet.caplen == packet.wire_len;
    return layer.end - layer.offset == reported + (layer.version == 4 ? 0 : kIpv6Bytes);
}

struct Covered {
    uint32_t checksum = 0; // offset in the transport header
    uint32_t header = 0;   // minimum header length
    bool has_pseudo_header = true;
};

bool find_covered(const IpLayer &layer, Covered &covered)
{
    switch (layer.protocol) {
    case IPPROTO_TCP: covered = {16, 20, true}; return true;
    case IPPROTO_UDP: covered = {6, 8, true}; return true;
    case IPPROTO_ICMP: covered = {2, 4, false}; return true;
    case IPPROTO_ICMPV6: covered = {2, 4, true}; return true;
    default: return false;
    }
}

bool is_wanted(Protocol wanted, const IpLayer &layer)
{
    switch (wanted) {
    case Protocol::kIp: return true;
    case Protocol::kUdp: return layer.protocol == IPPROTO_UDP;
    case Protocol::kIcmp: return layer.protocol == IPPROTO_ICMP || layer.protocol == IPPROTO_ICMPV6;
    default: return layer.protocol == IPPROTO_TCP;
    }
}

// Number of bytes covered by the checksum; 0 if they are incomplete.
uint32_t covered_bytes(const MutablePacket &packet, const IpLayer &layer, const Covered &covered)
{
    const uint32_t there = layer.end - layer.transport;
    if (!is_whole(packet, layer) || there < covered.header)
        return 0;
    if (layer.protocol != IPPROTO_UDP)
        return there;
    const uint32_t reported = half_at(packet.data + layer.transport + 4);
    return reported < kUdpBytes || reported > there ? 0 : reported;
}

// Returns true if the checksum could not be computed.
bool adjust_transport(MutablePacket &packet, const IpLayer &layer)
{
    Covered covered;
    if (layer.is_later_fragment || !find_covered(layer, covered))
        return false;
    const uint32_t at = layer.transport + covered.checksum;
    if (at + 2 > layer.end) { // truncated at least in part
        std::fill(packet.data + std::min(at, layer.end), packet.data + layer.end, uint8_t(0));
        return at < layer.end;
    }
    uint8_t *field = packet.data + at;
    const bool is_udp = layer.protocol == IPPROTO_UDP;
    if (is_udp && layer.version == 4 && half_at(field) == 0) // sent without a checksum
        return false;
    put_half(field, 0);
    const uint32_t bytes = covered_bytes(packet, layer, covered);
    const auto ends = headers::end_addresses_of(packet.data, layer);
    if (bytes == 0 || (covered.has_pseudo_header && !ends))
        return true;
    const uint64_t pseudo = covered.has_pseudo_header ? pseudo_header(*ends, layer, bytes) : 0;
    const uint16_t checksum = folded(pseudo + sum_of(packet.data + layer.transport, bytes));
    put_half(field, is_udp && checksum == 0 ? 0xffff : checksum); // zero means none (RFC 768)
    return false;
}

void adjust_ipv4(uint8_t *header)
{
    put_half(header + 10, 0);
    put_half(header + 10, folded(sum_of(header, size_t(header[0] & 15) * 4)));
}
} // namespace

unsigned adjust_checksums(MutablePacket &packet, const Layers &layers, Protocol protocol) noexcept
{
    unsigned unknown = 0;
    for (unsigned i = layers.count; i-- > 0;) {
        const IpLayer &layer = layers.ip[i];
        if (is_wanted(protocol, layer))
            unknown += adjust_transport(packet, layer);
        if (protocol == Protocol::kIp && layer.version == 4)
            adjust_ipv4(packet.data + layer.offset);
    }
    return unknown;
}
} // namespace mapi::anonymize
