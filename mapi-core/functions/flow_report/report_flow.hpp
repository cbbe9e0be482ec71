// SPDX-License-Identifier: MIT
// Report flow: what FLOW_REPORT knows of a flow, while it goes on and when it has ended.
#pragma once

#include <cstdint>

#include "functions/flow_cache/flow_cache.hpp"

namespace mapi::functions
{
// Zeros before the first packet.
struct ReportValues {
    uint64_t bytes;         // of IP packets
    uint32_t least_bytes;   // of one IP packet
    uint32_t greatest_bytes;
    uint8_t least_ttl;
    uint8_t greatest_ttl;
    uint8_t tcp_flags;      // of all packets
    // All below are of the first packet.
    uint8_t type_of_service;
    uint8_t ip_header_bytes;
    uint8_t source_mac[6];
    uint8_t destination_mac[6];
    uint16_t vlan;          // outermost tag's number
    uint16_t ip_length;     // as its header tells it: of the packet (IPv4) or of its payload (IPv6)
    uint16_t icmp_type_code;
    uint16_t tcp_window;
    uint16_t interface;
    uint32_t flow_label;
    uint32_t identification;
    uint32_t tcp_sequence;
};

using ReportCache = FlowCache<ReportValues>;

void add_packet(ReportCache::Flow &flow, const FlowPacket &packet);

// One that has ended, with what else a record may tell of that moment.
struct EndedFlow {
    ReportCache::Flow flow;
    uint64_t ended_ns;
    uint64_t boot_ns; // when the exporter's clock began
    uint64_t observed_flows;
    uint64_t ignored_packets; // without an IP header
    uint64_t ignored_bytes;
    uint64_t unsent_flows; // with too few packets
    uint64_t unsent_packets;
    uint64_t unsent_bytes;
    FlowEnd reason;
    bool is_reverse_behind;   // on its way to the writer: the next one is the other direction of the same biflow
    const EndedFlow *reverse; // at the writer: that one, or null
};
} // namespace mapi::functions
