// SPDX-License-Identifier: MIT
// Headers: packet view -> positions of its network and transport headers, through VLAN tags, MPLS
// labels, PPPoE and tunnels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include <mapi/packet.h>

namespace mapi::headers
{
// Limit of nested tunnels; anything deeper counts as payload.
constexpr unsigned kIpLayersMax = 4;

// One IP header with its options or extension headers.  Offsets are from the first captured byte
// and at most caplen.
struct IpLayer {
    uint32_t offset = 0;
    uint32_t transport = 0;         // offset of what the header carries
    uint32_t end = 0;               // of the datagram by its own length: link padding follows
    uint32_t fragment = 0;          // offset of IPv6's fragment header; 0: none
    uint8_t version = 0;            // 4 or 6
    uint8_t protocol = 0;           // IPPROTO_ of the header at transport
    bool is_fragment = false;       // any fragment of a larger datagram
    bool is_later_fragment = false; // not the first fragment: no transport header at transport
};

struct Ports {
    uint16_t source = 0;
    uint16_t destination = 0;
};

struct Headers {
    uint32_t network = 0;   // offset of what the link carries, after tags and labels
    uint16_t ethertype = 0; // of the network header; 0: unknown
    uint16_t vlan_tags = 0;
    uint16_t vlan = 0; // of the outermost tag, if any
    uint16_t mpls_labels = 0;
    uint16_t ip_layers = 0; // outermost first
    std::array<IpLayer, kIpLayersMax> ip{};
    uint32_t rest = 0;           // where the walk ended
    uint16_t rest_ethertype = 0; // type of what is there, if known
    bool is_lost = false; // ended at a truncated, malformed, unknown or too deeply nested header;
                          // unseen addresses may follow

    // Addresses and ports of a packet are those of its innermost IP header.  Null: it has none.
    const IpLayer *innermost() const { return ip_layers ? &ip[ip_layers - 1u] : nullptr; }
};

// Input is untrusted: a length that contradicts another or the capture ends the walk there.  Any
// thread.
Headers parse(const mapi_packet &packet) noexcept;

// 4 or 16 bytes in the packet.
std::span<const uint8_t> source_of(const mapi_packet &packet, const IpLayer &layer) noexcept;
std::span<const uint8_t> destination_of(const mapi_packet &packet, const IpLayer &layer) noexcept;
// What the layer carries up to its end, including the transport header; empty if the capture
// truncates it.
std::span<const uint8_t> datagram_of(const mapi_packet &packet, const IpLayer &layer) noexcept;
// The bytes after the header of TCP, UDP, UDP-Lite, ICMP and ICMPv6; nullopt in later fragments,
// after other headers, and if the capture truncates the header.
std::optional<std::span<const uint8_t>> payload_of(const mapi_packet &packet,
                                                   const IpLayer &layer) noexcept;
// False if the transport header is truncated by the capture or its length is inconsistent.  True
// for unknown transport protocols.
bool has_whole_transport(const mapi_packet &packet, const IpLayer &layer) noexcept;
// The ports of TCP, UDP, UDP-Lite, SCTP and DCCP; nullopt in later fragments and if the capture
// truncates them.
std::optional<Ports> ports_of(const mapi_packet &packet, const IpLayer &layer) noexcept;
} // namespace mapi::headers
