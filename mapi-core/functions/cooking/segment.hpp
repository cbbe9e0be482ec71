// SPDX-License-Identifier: MIT
// Segment: a TCP packet, or one assembled from IP fragments -> what streams need to know.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include "headers/headers.hpp"

namespace mapi::cooking
{
// Both ends of a stream, the lower one first, so that it is the same for both directions.  All
// bytes are defined: it is hashed and compared as a whole.
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
    unsigned from = 0; // index of the end that sent it
    uint32_t sequence = 0;
    uint32_t acknowledgment = 0;
    uint32_t window = 0; // as in the header
    uint8_t flags = 0;
    bool has_acknowledgment = false;
    std::optional<uint8_t> window_scale; // SYN options (RFC 7323, RFC 2018)
    bool permits_sack = false;
    std::span<const uint8_t> payload;
    uint32_t cut_bytes = 0; // bytes after the payload that were not captured
    uint64_t timestamp_ns = 0;

    uint32_t end() const { return sequence + uint32_t(payload.size()) + cut_bytes; }
};

// From a datagram between two addresses of 4 or 16 bytes; nullopt if it has no complete TCP header.
std::optional<Segment> read_segment(std::span<const uint8_t> source,
                                    std::span<const uint8_t> destination,
                                    std::span<const uint8_t> datagram);

// Number of bytes that the layer's header announces but the capture does not contain.
uint32_t cut_bytes_of(const mapi_packet &packet, const headers::IpLayer &layer);
} // namespace mapi::cooking
