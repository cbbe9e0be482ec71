// SPDX-License-Identifier: MIT
// Head: the headers of a packet, kept -> TCP packets with other bytes behind them.
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
// In front of the innermost IP header; packets with more there are not taken.
constexpr uint32_t kPrefixBytesMost = 256;

enum TcpFlag : uint8_t { kFin = 1, kSyn = 2, kRst = 4, kPsh = 8, kAck = 16 };

// Link and tunnel headers as they were, then the IP and the TCP header without options or extensions.
struct Head {
    std::vector<uint8_t> bytes;
    uint16_t ip = 0; // offset of the innermost IP header
    std::array<uint16_t, headers::kIpLayersMax - 1> outer{}; // of those around it
    uint8_t outers = 0;
    uint16_t link_type = 0;
    uint16_t ifindex = 0;
    bool is_link_length_short = false; // the link header tells the frame's length in 16 bits

    uint8_t flags() const { return bytes[bytes.size() - kTcpBytes + 13]; }
    uint32_t ip_bytes() const { return bytes[ip] >> 4 == 4 ? 20 : 40; }
    uint32_t network() const { return outers ? outer[0] : ip; }
    // That the outermost IP packet has room for, and the link header's length.
    uint32_t room() const { return UINT16_MAX - (uint32_t(bytes.size()) - (is_link_length_short ? 0 : network())); }
};

// Whether packets can be made with this one's headers.
bool can_be_head(const headers::Headers &found);
// All but the TCP header.  The packet can be a head.
void begin_head(Head &head, const mapi_packet &packet, const headers::Headers &found);
// kTcpBytes of it.
void end_head(Head &head, const uint8_t *tcp);

// Another packet of `made`, with lengths and checksums that are right.  At most room() bytes.
void make_packet(functions::MadePackets &made, const Head &head, uint32_t sequence, uint8_t flags, std::span<const uint8_t> payload,
                 uint64_t timestamp_ns);
} // namespace mapi::cooking
