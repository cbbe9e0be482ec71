// SPDX-License-Identifier: MIT
// Top field: a packet -> the value of one field of its innermost IP header, or of the TCP or UDP
// header after it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <mapi/packet.h>

#include "headers/headers.hpp"

namespace mapi::functions
{
// No padding: the bytes are hashed as they are in memory.
struct FieldValue {
    uint32_t value = 0; // a number, or an IPv4 address in network byte order
    std::array<uint8_t, 16> address6{};
    uint32_t family = 0; // address family, else 0

    bool operator==(const FieldValue &) const = default;
};
static_assert(sizeof(FieldValue) == 24);

// Whether the TOPX_ protocol has this TOPX_ field.
bool is_field_of(int64_t protocol, int64_t field);

// nullopt if the packet has no such field or is truncated before it.  Any thread.
std::optional<FieldValue> read_field(const mapi_packet &packet, const headers::Headers &headers,
                                     int protocol, int field);
} // namespace mapi::functions
