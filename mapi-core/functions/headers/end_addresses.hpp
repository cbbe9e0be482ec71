// SPDX-License-Identifier: MIT
// End addresses: an IP layer -> the original sender and the final destination of the datagram, also
// after source routes.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "headers/headers.hpp"

namespace mapi::headers
{
// The checksums of TCP, UDP and ICMPv6 cover these (RFC 8200 8.1, RFC 6275 11.3.1).  They differ
// from the header's addresses while a routing header or an IPv4 source route has hops left, and in
// packets with a home address option.
struct EndAddresses {
    std::array<uint8_t, 32> bytes{}; // source, then destination
    uint32_t each = 16;              // 4 or 16
    std::span<const uint8_t> source() const { return {bytes.data(), each}; }
    std::span<const uint8_t> destination() const { return {bytes.data() + each, each}; }
    std::span<const uint8_t> both() const { return {bytes.data(), size_t(2) * each}; }
};

// nullopt if a route has hops left and its last address cannot be read: its type is unknown, or its
// header is malformed.
std::optional<EndAddresses> end_addresses_of(const uint8_t *data, const IpLayer &layer) noexcept;
} // namespace mapi::headers
