// SPDX-License-Identifier: MIT
// Headers: packet view -> where its network and transport headers are, through VLAN tags, MPLS labels, PPPoE and tunnels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include <mapi/packet.h>

namespace mapi::headers
{
// Tunnels in tunnels end here; what lies deeper is payload.
constexpr unsigned kIpLayersMax = 4;

// One IP header with its options or extension headers.  Offsets are from the first captured byte and at most caplen.
struct IpLayer {
    uint32_t offset = 0;
    uint32_t transport = 0;          // of what the header carries
    uint32_t end = 0;                // of the datagram by its own length: link padding lies behind
    uint32_t fragment = 0;           // IPv6's fragment header, 0: it has none
    uint8_t version = 0;             // 4 or 6
    uint8_t protocol = 0;            // IPPROTO_ of what is at transport
    bool is_fragment = false;        // any fragment of a larger datagram
    bool is_later_fragment = false;  // not its first: no transport header at transport
};

struct Ports {
    uint16_t source = 0;
    uint16_t destination = 0;
};

struct Headers {
    uint32_t network = 0;    // offset of what the link carries, behind tags and labels
    uint16_t ethertype = 0;  // of that; 0: not known
    uint16_t vlan_tags = 0;
    uint16_t vlan = 0;       // of the outermost tag, if there is one
    uint16_t mpls_labels = 0;
    uint16_t ip_layers = 0;  // outermost first
    std::array<IpLayer, kIpLayersMax> ip{};
    uint32_t rest = 0;          // where the walk ended
    uint16_t rest_ethertype = 0; // of what is there, when it is known
    bool is_lost = false; // it ended at a header that is cut, contradicts itself, is one too many or of a kind not known: behind it
                          // there may be addresses that nobody found

    // Addresses and ports of a packet are those of its innermost IP header.  Null: it has none.
    const IpLayer *innermost() const { return ip_layers ? &ip[ip_layers - 1u] : nullptr; }
};

// Packets are hostile: lengths that contradict each other or the capture end the walk where they stand.  Any thread.
Headers parse(const mapi_packet &packet) noexcept;

// 4 or 16 bytes in the packet.
std::span<const uint8_t> source_of(const mapi_packet &packet, const IpLayer &layer) noexcept;
std::span<const uint8_t> destination_of(const mapi_packet &packet, const IpLayer &layer) noexcept;
// What the layer carries, up to its end, with transport header; empty where the capture cuts it.
std::span<const uint8_t> datagram_of(const mapi_packet &packet, const IpLayer &layer) noexcept;
// Behind the header of TCP, UDP, UDP-Lite, ICMP and ICMPv6; nothing in later fragments, behind other headers and where the capture
// cuts the header.
std::optional<std::span<const uint8_t>> payload_of(const mapi_packet &packet, const IpLayer &layer) noexcept;
// False where the capture cuts the transport header, or its length contradicts itself.  True where it is not one of those known here.
bool has_whole_transport(const mapi_packet &packet, const IpLayer &layer) noexcept;
// Of TCP, UDP, UDP-Lite, SCTP and DCCP; nothing in later fragments and where the capture cuts them.
std::optional<Ports> ports_of(const mapi_packet &packet, const IpLayer &layer) noexcept;
} // namespace mapi::headers
