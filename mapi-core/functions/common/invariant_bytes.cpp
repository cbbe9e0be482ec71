// SPDX-License-Identifier: MIT
// Invariant bytes: header by header, with what is left out.
#include "functions/common/invariant_bytes.hpp"

#include <algorithm>
#include <cstring>

#include <netinet/in.h>

#include "headers/end_addresses.hpp"

namespace mapi::functions
{
namespace
{
constexpr uint32_t kIpv6Bytes = 40;

uint32_t half(const uint8_t *at)
{
    return uint32_t(at[0]) << 8 | at[1];
}

// Of the whole datagram on the wire, by its header; that of a captured one may be truncated.
uint32_t datagram_bytes(const mapi_packet &packet, const headers::IpLayer &layer)
{
    const uint8_t *const header = packet.data + layer.offset;
    const uint32_t stated = layer.version == 4 ? half(header + 2) : half(header + 4);
    if (stated == 0) // larger than the field can hold: a jumbogram, or segments to be split later
        return std::max(layer.end, packet.wire_len) - layer.offset;
    return layer.version == 4 ? stated : stated + kIpv6Bytes;
}

// A transport header: its bytes, of which `bytes` from `at` on are left out.
struct Transport {
    uint32_t bytes = 0;
    uint32_t checksum_at = 0, checksum_bytes = 0;
};

// A header that the datagram cannot hold counts as payload.
Transport transport_of(const headers::IpLayer &layer, std::span<const uint8_t> datagram)
{
    constexpr uint32_t kTcpBytes = 20;
    if (layer.is_later_fragment)
        return {};
    switch (layer.protocol) {
    case IPPROTO_TCP: {
        const uint32_t stated = datagram.size() < kTcpBytes ? 0 : (datagram[12] >> 4) * 4u;
        return {std::max(stated, kTcpBytes), 16, 2};
    }
    case IPPROTO_UDP:
    case IPPROTO_UDPLITE: return {8, 6, 2};
    case IPPROTO_SCTP: return {12, 8, 4};
    case IPPROTO_DCCP: return {12, 6, 2};
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6:
    case IPPROTO_IGMP: return {8, 2, 2};
    default: return {};
    }
}

bool is_syn(const headers::IpLayer &layer, const uint8_t *transport)
{
    constexpr uint8_t kSyn = 2;
    return layer.protocol == IPPROTO_TCP && (transport[13] & kSyn) != 0;
}
} // namespace

void InvariantBytes::add(const uint8_t *from, uint32_t count)
{
    memcpy(bytes_.data() + count_, from, count);
    count_ += count;
}

void InvariantBytes::add_half(uint32_t value)
{
    bytes_[count_++] = uint8_t(value >> 8);
    bytes_[count_++] = uint8_t(value);
}

std::optional<InvariantBytes>
invariant_bytes_of(const mapi_packet &packet, const headers::IpLayer &layer, uint32_t payload_bytes)
{
    constexpr uint32_t kOffsetAndMore = 0x3fff; // without "don't fragment" and the reserved bit
    constexpr uint32_t kTcpBytes = 20;
    std::optional<InvariantBytes> found(std::in_place);
    const uint8_t *const header = packet.data + layer.offset;
    const auto datagram = headers::datagram_of(packet, layer);
    const uint32_t before = layer.transport - layer.offset, all = datagram_bytes(packet, layer);
    const uint32_t carried = all > before ? all - before : 0;

    found->bytes_[found->count_++] = layer.version;
    found->bytes_[found->count_++] = layer.protocol;
    if (const auto ends = headers::end_addresses_of(packet.data, layer)) {
        found->add(ends->bytes.data(), 2 * ends->each);
    } else {
        const auto source = headers::source_of(packet, layer),
                   destination = headers::destination_of(packet, layer);
        found->add(source.data(), uint32_t(source.size()));
        found->add(destination.data(), uint32_t(destination.size()));
    }
    found->add_half(carried >> 16);
    found->add_half(carried);
    if (layer.version == 4) {
        found->add(header + 4, 2);
        found->add_half(half(header + 6) & kOffsetAndMore);
    } else if (layer.fragment != 0) {
        found->add(packet.data + layer.fragment + 2, 6);
    }

    const Transport transport = transport_of(layer, datagram);
    const uint32_t kept = std::min(transport.bytes, carried);
    const uint32_t needed = kept + std::min(carried - kept, payload_bytes);
    if (datagram.size() < needed)
        return std::nullopt;
    const uint8_t *const start = datagram.data();
    if (kept < transport.checksum_at + transport.checksum_bytes || transport.bytes == 0) {
        found->add(start, kept);
    } else {
        const uint32_t rest = transport.checksum_at + transport.checksum_bytes;
        const uint32_t end = kept >= kTcpBytes && is_syn(layer, start) ? kTcpBytes : kept;
        found->add(start, transport.checksum_at);
        found->add(start + rest, end - rest);
    }
    found->add(start + kept, needed - kept);
    return found;
}
} // namespace mapi::functions
