// SPDX-License-Identifier: MIT
// Tunnels in IP: IP in IP (RFC 2003, 4213), GRE (RFC 2784, 2890; PPTP's, RFC 2637), MPLS in IP (RFC 4023), ERSPAN in GRE.
#include <netinet/in.h>

#include "headers/walk.hpp"

namespace mapi::headers
{
namespace
{
constexpr uint8_t kMplsInIp = 137;
constexpr uint16_t kErspan2 = 0x88be;
constexpr uint16_t kGrePpp = 0x880b;
constexpr uint32_t kErspan2Bytes = 8;
enum GreFlag : uint16_t { kChecksum = 0x8000, kRouting = 0x4000, kKey = 0x2000, kSequence = 0x1000, kAcknowledgment = 0x0080 };

// Of version 0 with the optional words that its flags tell; 0: source routes (RFC 1701), which nobody sends any more.
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

void step_pptp(Walk &walk, uint16_t flags, uint16_t type)
{
    const uint32_t bytes = 8 + (flags & kSequence ? 4 : 0) + (flags & kAcknowledgment ? 4 : 0);
    if (type == kGrePpp && walk.has(bytes))
        begin_ppp(walk, bytes);
    else
        walk.stop();
}

void step_gre(Walk &walk)
{
    if (!walk.has(4)) {
        walk.stop();
        return;
    }
    const uint16_t flags = walk.half(0);
    const uint16_t type = walk.half(2);
    if ((flags & 7) == 1) {
        step_pptp(walk, flags, type);
        return;
    }
    const uint32_t bytes = gre_bytes(flags);
    const uint32_t erspan = type == kErspan2 && (flags & kSequence) ? kErspan2Bytes : 0; // without numbers it is type I, without a header
    if ((flags & 7) != 0 || bytes == 0 || !walk.has(bytes + erspan)) {
        walk.stop();
        return;
    }
    if (type == kErspan2)
        walk.go(bytes + erspan, Next::kEthernet);
    else if (type == kGrePpp)
        begin_ppp(walk, bytes);
    else
        walk.go_ethertype(bytes, type);
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
