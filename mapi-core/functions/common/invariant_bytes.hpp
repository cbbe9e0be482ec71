// SPDX-License-Identifier: MIT
// Invariant bytes: a packet -> the bytes by which two observation points recognise it: those that
// no router changes on the way.
//
// Of the innermost IP header: version, protocol, the addresses of both ends, identification,
// fragment offset, number of bytes carried.  Then the transport header without its checksum, and
// the first bytes of the payload.  Left out because they change on the way: link headers, TTL and
// hop limit, TOS and traffic class, flow label, IP options, checksums, and the options of a TCP
// SYN, whose segment size routers reduce.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "headers/headers.hpp"

namespace mapi::functions
{
class InvariantBytes
{
public:
    static constexpr uint32_t kMostPayload = 256;

    // NOLINTNEXTLINE(modernize-use-equals-default): the bytes need not be zeroed for each packet
    InvariantBytes() {}

    std::span<const uint8_t> bytes() const { return {bytes_.data(), count_}; }

private:
    friend std::optional<InvariantBytes> invariant_bytes_of(const mapi_packet &,
                                                            const headers::IpLayer &, uint32_t);
    static constexpr uint32_t kMostHeaders = 128; // 45 of IP, at most 58 of TCP

    void add(const uint8_t *from, uint32_t count);
    void add_half(uint32_t value);

    std::array<uint8_t, kMostHeaders + kMostPayload> bytes_;
    uint32_t count_ = 0;
};

// payload_bytes: at most so many bytes after the transport header, up to kMostPayload.  nullopt:
// the capture truncates these bytes, so the packet cannot be recognised by what is left.
std::optional<InvariantBytes> invariant_bytes_of(const mapi_packet &packet,
                                                 const headers::IpLayer &layer,
                                                 uint32_t payload_bytes);
} // namespace mapi::functions
