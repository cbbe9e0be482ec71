// SPDX-License-Identifier: MIT
// Flow packet: a packet -> the flow that it belongs to.
#include "functions/flow_cache/flow_packet.hpp"

#include <algorithm>
#include <cstring>

namespace mapi::functions
{
namespace
{
constexpr uint32_t kIpv6Bytes = 40;
} // namespace

FlowKey FlowPacket::key() const
{
    FlowKey key{};
    const auto source = headers::source_of(packet, *ip),
               destination = headers::destination_of(packet, *ip);
    memcpy(key.source, source.data(), source.size());
    memcpy(key.destination, destination.data(), destination.size());
    key.protocol = ip->protocol;
    key.version = ip->version;
    if (const auto ports = headers::ports_of(packet, *ip)) {
        key.source_port = ports->source;
        key.destination_port = ports->destination;
    }
    return key;
}

uint32_t FlowPacket::ip_bytes() const
{
    const uint32_t reported = half_at_ip(ip->version == 4 ? 2 : 4);
    if (reported == 0) // network card offload, or a jumbogram
        return std::max(packet.wire_len, packet.caplen) - ip->offset;
    return reported + (ip->version == 4 ? 0 : kIpv6Bytes);
}

uint32_t FlowPacket::ip_header_bytes() const
{
    return ip->version == 4 ? (at_ip(0) & 15u) * 4 : kIpv6Bytes;
}

uint8_t FlowPacket::type_of_service() const
{
    return ip->version == 4 ? at_ip(1) : uint8_t(half_at_ip(0) >> 4);
}
} // namespace mapi::functions
