// SPDX-License-Identifier: MIT
// UDP tunnels: a datagram to a tunnel's port -> the start of the packet in it.
#pragma once

#include <cstdint>
#include <optional>

#include "headers/headers.hpp"

namespace mapi::anonymize
{
struct Inner {
    uint32_t offset;    // from the packet's first byte; may be the datagram's end
    uint16_t link_type; // LINKTYPE_ of the inner packet
};

// VXLAN (RFC 7348), Geneve (RFC 8926), GTP-U (3GPP TS 29.281), Teredo (RFC 4380), L2TP (RFC 2661),
// identified only by their ports.  nullopt if it is none of them, or carries no packet.
std::optional<Inner> inner_of_udp(const uint8_t *data, const headers::IpLayer &layer);

// The ports of LISP, VXLAN-GPE, AYIYA, sFlow and MPLS in UDP, which carry packets that are not
// parsed.
bool is_unknown_udp_tunnel(const uint8_t *data, const headers::IpLayer &layer);
} // namespace mapi::anonymize
