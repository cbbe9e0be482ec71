// SPDX-License-Identifier: MIT
// Link head: a link type -> how its frames begin.  The only table of link types that functions can
// decode.
#pragma once

#include <array>
#include <cstdint>

#include <mapi/packet.h>

namespace mapi::links
{
// How a frame continues after LinkHead::bytes.
enum class Start : uint8_t {
    kUnknown, // unsupported
    kIp,
    kSlip, // a header before IP, or IP without a header
    kEthernet,
    kEthertype, // of 2 bytes at LinkHead::type_at, from the frame's first byte
    kLlc,       // IEEE 802.2
    kPpp,       // a protocol number, with or without address and control before it
    kPppoe,     // the header of RFC 2516
    kPppBsdOs,
    kHdlc, // Cisco's, or PPP's
    kFrameRelay,
    kMpls,
    kFamily, // a BSD address family in the first 4 bytes, in any byte order
    kTokenRing,
    kSunAtm,
    kIpnet,
    kPflog,
    kNflog,
    kWireless,
    kPrism,
    kAvs,
    kRadiotap, // this and the following contain their own length
    kPpi,
    kPktap,
    kErf,
};

struct LinkHead {
    Start start = Start::kUnknown;
    uint8_t bytes = 0;
    uint8_t type_at = 0;
};

constexpr uint16_t kHeadsEnd = 277;
extern const std::array<LinkHead, kHeadsEnd> kHeads; // by LINKTYPE_ number

inline LinkHead head_of(uint16_t link_type)
{
    return link_type < kHeadsEnd ? kHeads[link_type] : LinkHead{};
}

// Link types whose packets contain a frame of another link type, which each packet names.
inline bool is_container(Start start)
{
    return start >= Start::kPpi;
}

struct InnerLink {
    uint16_t link_type;
    uint32_t offset; // of its frame, at most caplen
};

// For a container.  False if the inner link type is unknown or the packet is truncated.
bool inner_link(Start start, const uint8_t *data, uint32_t caplen, InnerLink &inner);

// Whether functions can decode the packet: its link type, or the one inside a container, is in the
// table.
bool is_known(const mapi_packet &packet);
} // namespace mapi::links
