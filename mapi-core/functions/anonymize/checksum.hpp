// SPDX-License-Identifier: MIT
// Checksum: the Internet checksums (RFC 1071) of a packet's headers -> corrected.
#pragma once

#include <cstdint>

#include "anonymize/mutable_packet.hpp"
#include "anonymize/places/layers.hpp"
#include "anonymize/vocabulary.hpp"

namespace mapi::anonymize
{
// kIp: the checksums of IPv4, and of TCP, UDP, ICMP and ICMPv6, which depend on it; other
// protocols: theirs in every layer.  The checksum of incomplete bytes, as in fragments and
// truncated packets, cannot be computed and becomes zero, because the old one would give
// information about the old bytes.  Returns the number of such checksums.
unsigned adjust_checksums(MutablePacket &packet, const Layers &layers, Protocol protocol) noexcept;
} // namespace mapi::anonymize
