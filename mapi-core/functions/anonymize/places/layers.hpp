// SPDX-License-Identifier: MIT
// Layers: a packet -> all its IP headers, those of tunnels and those that ICMP errors quote, and where nobody can look.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include <mapi/packet.h>

#include "headers/headers.hpp"

namespace mapi::anonymize
{
using headers::IpLayer;

// An ICMP error quotes a packet, and UDP may carry one, which a hostile one may go on with; what lies deeper is lost.
constexpr unsigned kLayersMax = 16;

struct Layers {
    std::array<IpLayer, kLayersMax> ip{}; // of each, those that carry it stand before it
    unsigned count = 0;
    std::optional<uint32_t> arp;  // offset of an ARP or RARP header
    // From here to the packet's end nothing is understood where addresses may lie: a header is cut, contradicts itself or is not known.
    std::optional<uint32_t> lost;

    std::span<const IpLayer> all() const { return {ip.data(), count}; }
};

Layers find_layers(const mapi_packet &packet) noexcept;
} // namespace mapi::anonymize
