// SPDX-License-Identifier: MIT
// Layers: a packet -> all its IP headers, including those in tunnels and those quoted in ICMP
// errors, and the part that cannot be parsed.
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

// An ICMP error quotes a packet and UDP may carry one, which hostile packets can nest without end;
// anything deeper is lost.
constexpr unsigned kLayersMax = 16;

struct Layers {
    std::array<IpLayer, kLayersMax> ip{}; // enclosing headers come first
    unsigned count = 0;
    std::optional<uint32_t> arp; // offset of an ARP or RARP header
    // From here to the packet's end nothing can be parsed and addresses may occur: a header is
    // truncated, inconsistent or unknown.
    std::optional<uint32_t> lost;

    std::span<const IpLayer> all() const { return {ip.data(), count}; }
};

Layers find_layers(const mapi_packet &packet) noexcept;
} // namespace mapi::anonymize
