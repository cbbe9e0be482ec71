// SPDX-License-Identifier: MIT
// Report flow: a packet -> the data of its flow.
#include "functions/flow_report/report_flow.hpp"

#include <cstring>

#include <netinet/in.h>

#include "links/link_type.hpp"

namespace mapi::functions
{
namespace
{
constexpr uint32_t kMacBytes = 6;

uint16_t half(const uint8_t *at)
{
    return uint16_t(at[0] << 8 | at[1]);
}

void add_link(ReportValues &values, const FlowPacket &packet)
{
    const uint8_t *frame = packet.packet.data;
    values.vlan = packet.headers.vlan;
    if (packet.packet.link_type != links::kEthernet)
        return; // Ethernet with IP inside has a complete header
    memcpy(values.destination_mac, frame, kMacBytes);
    memcpy(values.source_mac, frame + kMacBytes, kMacBytes);
}

void add_first(ReportValues &values, const FlowPacket &packet)
{
    const bool is_ipv4 = packet.ip->version == 4;
    add_link(values, packet);
    values.least_bytes = UINT32_MAX;
    values.least_ttl = UINT8_MAX;
    values.type_of_service = packet.type_of_service();
    values.ip_header_bytes = uint8_t(packet.ip_header_bytes());
    values.ip_length = packet.half_at_ip(is_ipv4 ? 2 : 4);
    values.interface = packet.packet.ifindex;
    if (is_ipv4)
        values.identification = packet.half_at_ip(4);
    else
        values.flow_label = uint32_t(packet.at_ip(1) & 15) << 16 | packet.half_at_ip(2);
}

void add_transport(ReportCache::Flow &flow, const FlowPacket &packet)
{
    constexpr size_t kSequence = 4, kFlags = 13, kWindow = 14, kIcmpBytes = 2;
    const auto datagram = headers::datagram_of(packet.packet, *packet.ip);
    ReportValues &values = flow.values;
    if (packet.ip->is_later_fragment)
        return;
    if (packet.ip->protocol == IPPROTO_TCP && datagram.size() >= kWindow + 2) {
        values.tcp_flags |= datagram[kFlags];
        if (flow.packets == 1) {
            values.tcp_window = half(&datagram[kWindow]);
            values.tcp_sequence =
                uint32_t(half(&datagram[kSequence])) << 16 | half(&datagram[kSequence + 2]);
        }
    } else if ((packet.ip->protocol == IPPROTO_ICMP || packet.ip->protocol == IPPROTO_ICMPV6) &&
               datagram.size() >= kIcmpBytes && flow.packets == 1) {
        values.icmp_type_code = half(datagram.data());
    }
}
} // namespace

void add_packet(ReportCache::Flow &flow, const FlowPacket &packet)
{
    ReportValues &values = flow.values;
    if (flow.packets == 1)
        add_first(values, packet);
    const uint32_t bytes = packet.ip_bytes();
    values.bytes += bytes;
    values.least_bytes = std::min(values.least_bytes, bytes);
    values.greatest_bytes = std::max(values.greatest_bytes, bytes);
    values.least_ttl = std::min(values.least_ttl, packet.ttl());
    values.greatest_ttl = std::max(values.greatest_ttl, packet.ttl());
    add_transport(flow, packet);
}
} // namespace mapi::functions
