// SPDX-License-Identifier: MIT
// Splice: bytes of a packet -> other bytes, more or fewer; the lengths in headers are updated.
#pragma once

#include <cstdint>
#include <span>

#include "anonymize/mutable_packet.hpp"
#include "anonymize/places/layers.hpp"

namespace mapi::anonymize
{
// The lengths in the IPv4, IPv6 and UDP headers around the place, the packet's own and those in
// `layers` change by as much as the packet does.  Returns false, with nothing changed, if there is
// no room or a length would not fit into its field.
bool splice(MutablePacket &packet, Layers &layers, uint32_t offset, uint32_t old_bytes,
            std::span<const uint8_t> bytes) noexcept;
} // namespace mapi::anonymize
