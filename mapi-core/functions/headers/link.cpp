// SPDX-License-Identifier: MIT
// Link headers: LINKTYPE_ number -> what the frame carries (tcpdump.org/linktypes.html), by the
// table of links/.
#include <net/ethernet.h>

#include "headers/walk.hpp"
#include "links/link_head.hpp"

namespace mapi::headers
{
namespace
{
using links::LinkHead;
using links::Start;

// AF_INET; AF_INET6 of Linux, NetBSD, FreeBSD and macOS
bool is_ip_family(uint32_t family)
{
    return family == 2 || family == 10 || family == 24 || family == 28 || family == 30;
}

// The family is in the byte order of the recording machine or of the network; no family is above
// 255.
void begin_family(Walk &walk, uint32_t bytes)
{
    if (walk.has(bytes) && is_ip_family(walk.byte(0) ? walk.byte(0) : walk.byte(3)))
        walk.go(bytes, Next::kIp);
}

// Address and control byte are omitted if both sides agree (RFC 1661 6.6).
void begin_ppp(Walk &walk, uint32_t bytes)
{
    if (!walk.has(bytes))
        return;
    walk.go(bytes, Next::kPpp);
    if (walk.has(2) && walk.half(0) == 0xff03)
        walk.go(2, Next::kPpp);
}

// BSD/OS: 24 bytes, with the protocol in the fifth.
void begin_ppp_bsd_os(Walk &walk)
{
    constexpr uint32_t kBytes = 24, kProtocolAt = 5;
    enum : uint16_t { kIpv4 = 0x0021, kIpv6 = 0x0057 };
    if (!walk.has(kBytes))
        return;
    const uint16_t protocol = walk.half(kProtocolAt);
    if (protocol == kIpv4 || protocol == kIpv6)
        walk.go(kBytes, Next::kIp);
}

// BSD's header begins with a direction, 0 or 1.  An IP version in its place means that there is no
// such header, as in libpcap's filters.
void begin_slip(Walk &walk, uint32_t bytes)
{
    const unsigned version = walk.has(1) ? walk.byte(0) >> 4 : 0;
    if (version == 4 || version == 6)
        walk.go(0, Next::kIp);
    else if (walk.has(bytes))
        walk.go(bytes, Next::kIp);
}

void begin_hdlc(Walk &walk, uint32_t bytes)
{
    if (!walk.has(bytes + 4))
        return;
    if (walk.half(bytes) == 0xff03) // PPP in HDLC framing
        walk.go(bytes + 2, Next::kPpp);
    else
        walk.go_ethertype(bytes + 4, walk.half(bytes + 2));
}

// An address of 2 to 4 bytes, the last with its lowest bit set (Q.922), followed by RFC 2427's
// header or a type as Cisco uses it.
void begin_frame_relay(Walk &walk, uint32_t bytes)
{
    constexpr uint8_t kUnnumbered = 0x03, kPad = 0, kSnap = 0x80, kNlpidIpv4 = 0xcc,
                      kNlpidIpv6 = 0x8e;
    constexpr uint32_t kAddressMost = 4, kSnapBytes = 6;
    uint32_t address = 2;
    while (address <= kAddressMost && walk.has(bytes + address) &&
           !(walk.byte(bytes + address - 1) & 1))
        ++address;
    const uint32_t at = bytes + address;
    if (address > kAddressMost || !walk.has(at + 2))
        return;
    if (walk.byte(at) != kUnnumbered) {
        walk.go_ethertype(at + 2, walk.half(at));
        return;
    }
    const uint32_t nlpid = walk.byte(at + 1) == kPad ? at + 2 : at + 1;
    if (!walk.has(nlpid + 1))
        return;
    if (walk.byte(nlpid) == kNlpidIpv4 || walk.byte(nlpid) == kNlpidIpv6)
        walk.go(nlpid + 1, Next::kIp);
    else if (walk.byte(nlpid) == kSnap && walk.has(nlpid + kSnapBytes) &&
             walk.word(nlpid) == uint32_t(kSnap) << 24)
        walk.go_ethertype(nlpid + kSnapBytes, walk.half(nlpid + 4));
}

void begin_at_type(Walk &walk, const LinkHead &head)
{
    if (walk.has(head.bytes))
        walk.go_ethertype(head.bytes, walk.half(head.type_at));
}

// Access and frame control, two addresses; if the first bit of the source is set, a route of
// variable length follows (IEEE 802.5).
void begin_token_ring(Walk &walk)
{
    constexpr uint32_t kBytes = 14, kSourceAt = 8, kRouteBytesMask = 0x1f;
    if (!walk.has(kBytes + 2))
        return;
    const bool has_route = walk.byte(kSourceAt) & 0x80;
    begin_llc(walk, kBytes + (has_route ? walk.byte(kBytes) & kRouteBytesMask : 0));
}

// The packet type and the circuit.
void begin_sun_atm(Walk &walk)
{
    enum Traffic : uint8_t { kLane = 1, kLlc = 2 };
    constexpr uint32_t kBytes = 4, kLaneBytes = 2;
    if (!walk.has(kBytes + kLaneBytes))
        return;
    const uint8_t traffic = walk.byte(0) & 0x0f;
    if (traffic == kLane)
        walk.go(kBytes + kLaneBytes, Next::kEthernet);
    else if (traffic == kLlc)
        begin_llc(walk, kBytes);
}

// Solaris' hook: version and family, in 24 bytes.
void begin_ipnet(Walk &walk)
{
    constexpr uint32_t kBytes = 24;
    enum Family : uint8_t { kIpv4 = 2, kIpv6 = 26 };
    if (walk.has(kBytes) && (walk.byte(1) == kIpv4 || walk.byte(1) == kIpv6))
        walk.go(kBytes, Next::kIp);
}

// The header length without its padding to words, then the family.
void begin_pflog(Walk &walk)
{
    if (!walk.has(2))
        return;
    const uint32_t bytes = (walk.byte(0) + 3u) & ~3u;
    if (bytes > 2 && walk.has(bytes) && is_ip_family(walk.byte(1)))
        walk.go(bytes, Next::kIp);
}

// Attributes in this machine's byte order, one of which is the packet.
void begin_nflog(Walk &walk)
{
    constexpr uint32_t kHeaderBytes = 4, kAttributeBytes = 4;
    constexpr uint16_t kPayload = 9;
    if (!walk.has(kHeaderBytes) || walk.byte(1) != 0 || !is_ip_family(walk.byte(0)))
        return;
    for (uint32_t at = kHeaderBytes; walk.has(at + kAttributeBytes);) {
        const uint32_t bytes = walk.host_half(at);
        if (walk.host_half(at + 2) == kPayload) {
            walk.go(at + kAttributeBytes, Next::kIp);
            return;
        }
        if (bytes < kAttributeBytes)
            return;
        at += (bytes + 3u) & ~3u;
    }
}

void begin_plain(Walk &walk, const LinkHead &head)
{
    switch (head.start) {
    case Start::kIp: walk.go(0, Next::kIp); break;
    case Start::kSlip: begin_slip(walk, head.bytes); break;
    case Start::kEthernet:
        if (walk.has(head.bytes))
            walk.go(head.bytes, Next::kEthernet);
        break;
    case Start::kEthertype: begin_at_type(walk, head); break;
    case Start::kLlc: begin_llc(walk, head.bytes); break;
    case Start::kPpp: begin_ppp(walk, head.bytes); break;
    case Start::kPppoe: walk.go_ethertype(0, kPppoeSession); break;
    case Start::kPppBsdOs: begin_ppp_bsd_os(walk); break;
    case Start::kHdlc: begin_hdlc(walk, head.bytes); break;
    case Start::kFrameRelay: begin_frame_relay(walk, head.bytes); break;
    case Start::kMpls: walk.go(0, Next::kMpls); break;
    case Start::kFamily: begin_family(walk, head.bytes); break;
    case Start::kTokenRing: begin_token_ring(walk); break;
    case Start::kSunAtm: begin_sun_atm(walk); break;
    case Start::kIpnet: begin_ipnet(walk); break;
    case Start::kPflog: begin_pflog(walk); break;
    case Start::kNflog: begin_nflog(walk); break;
    case Start::kWireless:
    case Start::kPrism:
    case Start::kAvs:
    case Start::kRadiotap: begin_wireless(walk, head.start); break;
    default: break; // unknown, or a container in a container
    }
}
} // namespace

void begin_llc(Walk &walk, uint32_t bytes)
{
    if (walk.has(bytes))
        walk.go_ethertype(bytes, 0); // handled like a length
}

void begin_other_link(Walk &walk, uint16_t link_type)
{
    const LinkHead head = links::head_of(link_type);
    walk.is_lost = true;
    if (!links::is_container(head.start)) {
        begin_plain(walk, head);
    } else if (links::InnerLink inner;
               links::inner_link(head.start, walk.data, walk.caplen, inner)) {
        walk.at = inner.offset;
        begin_plain(walk, links::head_of(inner.link_type));
    }
    if (walk.next != Next::kEnd)
        walk.is_lost = false;
}

void step_ethernet(Walk &walk)
{
    if (walk.has(ETHER_HDR_LEN))
        walk.go_ethertype(ETHER_HDR_LEN, walk.half(12));
    else
        walk.lose();
}
} // namespace mapi::headers
