// SPDX-License-Identifier: MIT
// Link headers: LINKTYPE_ number -> what the frame carries (tcpdump.org/linktypes.html).
#include <net/ethernet.h>

#include "headers/walk.hpp"

namespace mapi::headers
{
namespace
{
enum LinkType : uint16_t {
    kNull = 0,
    kEthernet = 1,
    kPpp = 9,
    kPppHdlc = 50,
    kRaw = 101,
    kCiscoHdlc = 104,
    kLoop = 108,
    kLinuxSll = 113,
    kIpv4 = 228,
    kIpv6 = 229,
    kLinuxSll2 = 276,
};

// The family has the byte order of the machine that recorded: no family is above 255.
void begin_null(Walk &walk)
{
    if (!walk.has(4))
        return;
    const uint32_t family = walk.byte(0) ? walk.byte(0) : walk.byte(3);
    // AF_INET; AF_INET6 of Linux, NetBSD, FreeBSD and macOS
    if (family == 2 || family == 10 || family == 24 || family == 28 || family == 30)
        walk.go(4, Next::kIp);
}

// Address and control byte are left out when both sides agree (RFC 1661 6.6).
void begin_ppp(Walk &walk)
{
    if (walk.has(2) && walk.half(0) == 0xff03)
        walk.go(2, Next::kPpp);
    else
        walk.go(0, Next::kPpp);
}

void begin_hdlc(Walk &walk)
{
    if (!walk.has(4))
        return;
    if (walk.half(0) == 0xff03) // PPP in HDLC framing
        walk.go(2, Next::kPpp);
    else
        walk.go_ethertype(4, walk.half(2));
}

void begin_at_type(Walk &walk, uint32_t type_offset, uint32_t bytes)
{
    if (walk.has(bytes))
        walk.go_ethertype(bytes, walk.half(type_offset));
}
} // namespace

void begin_link(Walk &walk, uint16_t link_type)
{
    switch (link_type) {
    case kEthernet: walk.go(0, Next::kEthernet); break;
    case kRaw:
    case kIpv4:
    case kIpv6: walk.go(0, Next::kIp); break;
    case kNull:
    case kLoop: begin_null(walk); break;
    case kPpp: begin_ppp(walk); break;
    case kPppHdlc:
    case kCiscoHdlc: begin_hdlc(walk); break;
    case kLinuxSll: begin_at_type(walk, 14, 16); break;
    case kLinuxSll2: begin_at_type(walk, 0, 20); break;
    default: break;
    }
}

void step_ethernet(Walk &walk)
{
    if (walk.has(ETHER_HDR_LEN))
        walk.go_ethertype(ETHER_HDR_LEN, walk.half(12));
    else
        walk.lose();
}
} // namespace mapi::headers
