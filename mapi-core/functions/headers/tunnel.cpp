// SPDX-License-Identifier: MIT
// Tunnels in IP: IP in IP (RFC 2003, 4213), GRE (RFC 2784, 2890; PPTP's, RFC 2637) and its payload,
// MPLS in IP (RFC 4023).
#include <netinet/in.h>

#include "headers/walk.hpp"

namespace mapi::headers
{
namespace
{
constexpr uint8_t kMplsInIp = 137;
enum GreType : uint16_t { kErspan2 = 0x88be, kErspan3 = 0x22eb, kGrePpp = 0x880b, kWccp = 0x883e };
enum GreFlag : uint16_t {
    kChecksum = 0x8000,
    kRouting = 0x4000,
    kKey = 0x2000,
    kSequence = 0x1000,
    kAcknowledgment = 0x0080
};

// The length of version 0 with the optional words given by its flags; 0 for source routes (RFC
// 1701), which are obsolete.
uint32_t gre_bytes(uint16_t flags)
{
    if (flags & kRouting)
        return 0;
    return 4 + (flags & kChecksum ? 4 : 0) + (flags & kKey ? 4 : 0) + (flags & kSequence ? 4 : 0);
}

void begin_ppp(Walk &walk, uint32_t bytes)
{
    walk.go(bytes, Next::kPpp);
    if (walk.has(2) && walk.half(0) == 0xff03)
        walk.go(2, Next::kPpp);
}

// Type I has no header and is recognized by GRE without sequence numbers; type III may have an
// additional one (draft-foschiano-erspan-03).
void begin_erspan(Walk &walk, uint16_t type, uint16_t flags)
{
    uint32_t bytes = type == kErspan3 ? 12 : (flags & kSequence) ? 8 : 0;
    if (type == kErspan3 && walk.has(bytes) && (walk.byte(11) & 1))
        bytes += 8;
    if (walk.has(bytes))
        walk.go(bytes, Next::kEthernet);
    else
        walk.lose();
}

// Version 2 has a redirect header of 4 bytes before the IP header (draft-wilson-wrec-wccp-v2),
// version 1 has none.
void begin_wccp(Walk &walk)
{
    const bool is_ip = walk.has(1) && walk.byte(0) >> 4 == 4;
    if (is_ip || walk.has(4))
        walk.go(is_ip ? 0 : 4, Next::kIp);
    else
        walk.lose();
}

void step_pptp(Walk &walk, uint16_t flags, uint16_t type)
{
    const uint32_t bytes = 8 + (flags & kSequence ? 4 : 0) + (flags & kAcknowledgment ? 4 : 0);
    if (type == kGrePpp && walk.has(bytes))
        begin_ppp(walk, bytes);
    else
        walk.lose();
}

void step_gre(Walk &walk)
{
    if (!walk.has(4)) {
        walk.lose();
        return;
    }
    const uint16_t flags = walk.half(0);
    const uint16_t type = walk.half(2);
    if ((flags & 7) == 1) {
        step_pptp(walk, flags, type);
        return;
    }
    const uint32_t bytes = gre_bytes(flags);
    if ((flags & 7) != 0 || bytes == 0 || !walk.has(bytes)) {
        walk.lose();
        return;
    }
    walk.go(bytes, Next::kEnd);
    switch (type) {
    case kErspan2:
    case kErspan3: begin_erspan(walk, type, flags); break;
    case kGrePpp: begin_ppp(walk, 0); break;
    case kWccp: begin_wccp(walk); break;
    default: walk.go_ethertype(0, type); break;
    }
}
} // namespace

void step_ip_payload(Walk &walk, const Headers &headers)
{
    switch (headers.innermost()->protocol) {
    case IPPROTO_IPIP:
    case IPPROTO_IPV6: walk.go(0, Next::kIp); break;
    case IPPROTO_GRE: step_gre(walk); break;
    case kMplsInIp: walk.go(0, Next::kMpls); break;
    default: walk.stop(); break;
    }
}
} // namespace mapi::headers
