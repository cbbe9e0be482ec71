// SPDX-License-Identifier: MIT
// Checksum: the Internet checksums (RFC 1071) of a packet's headers -> made right.
#pragma once

#include <cstdint>

#include "anonymize/places/layers.hpp"
#include "anonymize/mutable_packet.hpp"
#include "anonymize/vocabulary.hpp"

namespace mapi::anonymize
{
// Of kIp: those of IPv4, and of TCP, UDP, ICMP and ICMPv6, which depend on it; of others: of that protocol in every layer.
// A checksum of bytes that are not all there, as in fragments and cut packets, cannot be computed and becomes zero: the old one would
// tell of the old bytes.  Returns how many.
unsigned adjust_checksums(MutablePacket &packet, const Layers &layers, Protocol protocol) noexcept;
} // namespace mapi::anonymize
