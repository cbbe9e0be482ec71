// SPDX-License-Identifier: MIT
// Link head: a link type -> how its frames begin.  The one table of what functions can look into.
#pragma once

#include <array>
#include <cstdint>

#include <mapi/packet.h>

namespace mapi::links
{
// How a frame goes on behind LinkHead::bytes.
enum class Start : uint8_t {
    kUnknown, // nobody here can tell
    kIp,
    kSlip, // a header before IP, or IP at once
    kEthernet,
    kEthertype,  // of 2 bytes at LinkHead::type_at, from the frame's first byte
    kLlc,        // IEEE 802.2
    kPpp,        // a protocol number, behind address and control or without
    kPppoe,      // RFC 2516's header
    kPppBsdOs,
    kHdlc,       // Cisco's, or PPP's
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
    kRadiotap, // these and the following tell their own length
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

// Frames that have another link type's inside, of which each packet tells.
inline bool is_container(Start start)
{
    return start >= Start::kPpi;
}

struct InnerLink {
    uint16_t link_type;
    uint32_t offset; // of its frame, at most caplen
};

// Of a container.  False: it has no link type known here, or is cut.
bool inner_link(Start start, const uint8_t *data, uint32_t caplen, InnerLink &inner);

// Whether functions can look into the packet: its link type is one of the table's, also inside a container.
bool is_known(const mapi_packet &packet);
} // namespace mapi::links
