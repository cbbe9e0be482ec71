// SPDX-License-Identifier: MIT
// Head: the saved headers of a packet -> TCP packets with a different payload.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <mapi/packet.h>

#include "functions/common/made_packets.hpp"
#include "headers/headers.hpp"

namespace mapi::cooking
{
constexpr uint32_t kTcpBytes = 20;
// Limit of the bytes before the innermost IP header; packets with more are not accepted.
constexpr uint32_t kPrefixBytesMost = 256;

enum TcpFlag : uint8_t { kFin = 1, kSyn = 2, kRst = 4, kPsh = 8, kAck = 16 };

// Link and tunnel headers unchanged, then the IP and TCP headers without options or extensions.
struct Head {
    std::vector<uint8_t> bytes;
    uint16_t ip = 0;                                         // offset of the innermost IP header
    std::array<uint16_t, headers::kIpLayersMax - 1> outer{}; // offsets of the IP headers around it
    uint8_t outers = 0;
    uint16_t link_type = 0;
    uint16_t ifindex = 0;
    bool is_link_length_short = false; // the link header has a 16-bit frame length

    uint8_t flags() const { return bytes[bytes.size() - kTcpBytes + 13]; }
    uint32_t ip_bytes() const { return bytes[ip] >> 4 == 4 ? 20 : 40; }
    uint32_t network() const { return outers ? outer[0] : ip; }
    // Limited by the length fields of the outermost IP packet and of the link header.
    uint32_t room() const
    {
        return UINT16_MAX - (uint32_t(bytes.size()) - (is_link_length_short ? 0 : network()));
    }
};

// Whether packets can be created with this packet's headers.
bool can_be_head(const headers::Headers &found);
// Fills all but the TCP header.  Requires can_be_head().
void begin_head(Head &head, const mapi_packet &packet, const headers::Headers &found);
// Adds kTcpBytes of the TCP header.
void end_head(Head &head, const uint8_t *tcp);

// Adds another packet to `made`, with correct lengths and checksums and at most room() bytes.
void make_packet(functions::MadePackets &made, const Head &head, uint32_t sequence, uint8_t flags,
                 std::span<const uint8_t> payload, uint64_t timestamp_ns);
} // namespace mapi::cooking
