// SPDX-License-Identifier: MIT
// Flow key: a packet's addresses, protocol and ports -> the same bytes for both directions.
#pragma once

#include <array>
#include <cstdint>

#include <mapi/packet.h>

#include "headers/headers.hpp"

namespace mapi::functions
{
// No padding: the bytes are hashed as they are in memory.
struct FlowKey {
    std::array<uint8_t, 16> lower{}, upper{}; // addresses, the lower one first
    uint16_t lower_port = 0, upper_port = 0;
    uint16_t protocol = 0;
    uint16_t version = 0;

    bool operator==(const FlowKey &) const = default;
};
static_assert(sizeof(FlowKey) == 40);

// Ports are 0 for protocols without ports.
FlowKey flow_key(const mapi_packet &packet, const headers::IpLayer &ip) noexcept;
} // namespace mapi::functions
