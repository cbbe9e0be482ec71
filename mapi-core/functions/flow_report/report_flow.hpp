// SPDX-License-Identifier: MIT
// Report flow: FLOW_REPORT's data of a flow, while it is active and when it has ended.
#pragma once

#include <cstdint>

#include "functions/flow_cache/flow_cache.hpp"

namespace mapi::functions
{
// Zeros before the first packet.
struct ReportValues {
    uint64_t bytes;       // of IP packets
    uint32_t least_bytes; // of one IP packet
    uint32_t greatest_bytes;
    uint8_t least_ttl;
    uint8_t greatest_ttl;
    uint8_t tcp_flags; // of all packets
    // All members below describe the first packet.
    uint8_t type_of_service;
    uint8_t ip_header_bytes;
    uint8_t source_mac[6];
    uint8_t destination_mac[6];
    uint16_t vlan;      // ID of the outermost tag
    uint16_t ip_length; // from its header: of the packet (IPv4) or of its payload (IPv6)
    uint16_t icmp_type_code;
    uint16_t tcp_window;
    uint16_t interface;
    uint32_t flow_label;
    uint32_t identification;
    uint32_t tcp_sequence;
};

using ReportCache = FlowCache<ReportValues>;

void add_packet(ReportCache::Flow &flow, const FlowPacket &packet);

// A flow that has ended, with everything else that a record may contain for that moment.
struct EndedFlow {
    ReportCache::Flow flow;
    uint64_t ended_ns;
    uint64_t boot_ns; // start of the exporter's clock
    uint64_t observed_flows;
    uint64_t ignored_packets; // without an IP header
    uint64_t ignored_bytes;
    uint64_t unsent_flows; // with too few packets
    uint64_t unsent_packets;
    uint64_t unsent_bytes;
    FlowEnd reason;
    bool is_reverse_behind; // on the way to the writer: the reverse direction of the biflow follows
    const EndedFlow *reverse; // at the writer: that direction, or null
};
} // namespace mapi::functions
