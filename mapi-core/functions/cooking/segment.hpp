// SPDX-License-Identifier: MIT
// Segment: a TCP packet, or one made of IP fragments -> what streams look at.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include "headers/headers.hpp"

namespace mapi::cooking
{
// Both ends of a stream, the lesser first, so that both directions have the same.  All bytes are defined: it is hashed and compared whole.
struct Ends {
    struct End {
        std::array<uint8_t, 16> address{};
        std::array<uint8_t, 2> port{};
        auto operator<=>(const End &) const = default;
    };
    std::array<End, 2> end;
    uint8_t version = 0;
    uint8_t zero = 0;
    bool operator==(const Ends &) const = default;
};
static_assert(sizeof(Ends) == 38);

struct Segment {
    Ends ends;
    unsigned from = 0; // which of the ends sent it
    uint32_t sequence = 0;
    uint32_t acknowledgment = 0;
    uint32_t window = 0; // as the header has it
    uint8_t flags = 0;
    bool has_acknowledgment = false;
    std::optional<uint8_t> window_scale; // options of a SYN (RFC 7323, RFC 2018)
    bool permits_sack = false;
    std::span<const uint8_t> payload;
    uint32_t cut_bytes = 0; // that follow the payload and were not captured
    uint64_t timestamp_ns = 0;

    uint32_t end() const { return sequence + uint32_t(payload.size()) + cut_bytes; }
};

// Of the datagram that two addresses of 4 or 16 bytes exchange; nothing when it has no whole TCP header.
std::optional<Segment> read_segment(std::span<const uint8_t> source, std::span<const uint8_t> destination, std::span<const uint8_t> datagram);

// Bytes of the layer that its header tells of and the capture has not.
uint32_t cut_bytes_of(const mapi_packet &packet, const headers::IpLayer &layer);
} // namespace mapi::cooking
