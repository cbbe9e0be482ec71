// SPDX-License-Identifier: MIT
// Shims between link and network: VLAN tags (IEEE 802.1Q, 802.1ad), MPLS labels (RFC 3032) and
// pseudowires (RFC 4385, 4448), PPPoE (RFC 2516), PPP.
#include <net/ethernet.h>

#include "headers/walk.hpp"

namespace mapi::headers
{
namespace
{
enum EtherType : uint16_t {
    kVlanService = 0x88a8,
    kVlanOld = 0x9100, // QinQ before 802.1ad
    kMplsUnicast = 0x8847,
    kMplsMulticast = 0x8848,
    kBridge = 0x6558, // transparent Ethernet bridging, in GRE
};
enum PppProtocol : uint16_t {
    kPppIpv4 = 0x0021,
    kPppIpv6 = 0x0057,
    kPppMpls = 0x0281,
    kPppMplsMulticast = 0x0283
};
constexpr uint16_t kPppControl = 0x8000; // lower values: data, such as compressed IP (RFC 1661 2)

constexpr uint16_t kLongestLength = 1500; // greater values are types (IEEE 802.3 clause 3.2.6)
// SNAP (RFC 1042): both service access points, unnumbered information, and no organization: a type
// follows.
constexpr uint16_t kSnapPoints = 0xaaaa;
constexpr uint32_t kSnapTypes = 0x03000000;
constexpr uint32_t kSnapBytes = 8;

constexpr uint32_t kTagBytes = 4;
constexpr uint16_t kVlanMask = 0xfff;
constexpr uint32_t kLabelBytes = 4;
constexpr uint32_t kControlWordBytes = 4;
constexpr uint32_t kPppoeBytes = 6;
constexpr uint32_t kArpBytes = 28;
constexpr uint32_t kBottomOfStack = 0x100;

void step_tag(Walk &walk, Headers &headers)
{
    if (!walk.has(kTagBytes)) {
        walk.lose();
        return;
    }
    if (headers.vlan_tags++ == 0)
        headers.vlan = walk.half(0) & kVlanMask;
    walk.go_ethertype(kTagBytes, walk.half(2));
}

// A length in place of a type is followed by logical link control (IEEE 802.2), which may contain a
// type.
void step_length(Walk &walk)
{
    if (walk.has(kSnapBytes) && walk.half(0) == kSnapPoints && walk.word(2) == kSnapTypes)
        walk.go_ethertype(kSnapBytes, walk.half(6));
    else if (walk.guess)
        walk.lose();
    else
        walk.stop();
}

// These also carry packets: Cisco's tag, MACsec, service instances, HSR, E-TAG, NSH, TRILL.
bool is_unknown_shim(uint16_t ethertype)
{
    switch (ethertype) {
    case 0x8909:
    case 0x88e5:
    case 0x88e7:
    case 0x892f:
    case 0x893f:
    case 0x894f:
    case 0x22f3: return true;
    default: return false;
    }
}

// A label stack does not say what it carries.  As in routers (RFC 4928), IP is recognized by its
// version, and a pseudowire's control word by a zero there.  Both Ethernet in the pseudowire and IP
// are guesses: Ethernet without a control word may begin in the same way.
void step_label_payload(Walk &walk)
{
    const bool is_pseudowire = walk.has(kControlWordBytes) && walk.byte(0) >> 4 == 0;
    if (walk.guess == 0)
        walk.guess = walk.at;
    if (is_pseudowire)
        walk.go(kControlWordBytes, Next::kEthernet);
    else
        walk.go(0, Next::kIp);
}

// IPv4 over Ethernet (RFC 826); other address types have no recognizable pattern.
bool is_plain_arp(const Walk &walk)
{
    return walk.has(kArpBytes) && walk.word(0) == 0x00010800 && walk.half(4) == 0x0604;
}
} // namespace

void step_ethertype(Walk &walk, Headers &headers)
{
    if (walk.ethertype <= kLongestLength) {
        step_length(walk);
        return;
    }
    switch (walk.ethertype) {
    case ETHERTYPE_VLAN:
    case kVlanService:
    case kVlanOld: step_tag(walk, headers); return;
    case kMplsUnicast:
    case kMplsMulticast: walk.go(0, Next::kMpls); return;
    case kBridge: walk.go(0, Next::kEthernet); return;
    case kPppoeSession:
        if (walk.has(kPppoeBytes))
            walk.go(kPppoeBytes, Next::kPpp);
        else
            walk.lose();
        return;
    case ETHERTYPE_IP:
    case ETHERTYPE_IPV6: walk.go(0, Next::kIp); return;
    case ETHERTYPE_ARP:
    case ETHERTYPE_REVARP:
        if (is_plain_arp(walk))
            walk.confirm();
        break;
    default: break;
    }
    if (walk.guess) {
        walk.lose();
        return;
    }
    if (headers.ip_layers == 0) {
        headers.network = walk.at;
        headers.ethertype = walk.ethertype;
    }
    headers.rest_ethertype = walk.ethertype;
    if (is_unknown_shim(walk.ethertype))
        walk.lose();
    else
        walk.stop();
}

// The first byte of the protocol is omitted if it is zero and both sides agree (RFC 1661 6.5).
void step_ppp(Walk &walk)
{
    if (!walk.has(2)) {
        walk.lose();
        return;
    }
    const bool is_short = walk.byte(0) & 1;
    const uint16_t protocol = is_short ? walk.byte(0) : walk.half(0);
    const uint32_t bytes = is_short ? 1 : 2;
    if (protocol == kPppIpv4 || protocol == kPppIpv6)
        walk.go(bytes, Next::kIp);
    else if (protocol == kPppMpls || protocol == kPppMplsMulticast)
        walk.go(bytes, Next::kMpls);
    else if (protocol < kPppControl || walk.guess)
        walk.lose();
    else
        walk.stop();
}

void step_mpls(Walk &walk, Headers &headers)
{
    bool is_bottom = false;
    while (!is_bottom) {
        if (!walk.has(kLabelBytes)) {
            walk.lose();
            return;
        }
        is_bottom = walk.word(0) & kBottomOfStack;
        ++headers.mpls_labels;
        walk.at += kLabelBytes;
    }
    step_label_payload(walk);
}
} // namespace mapi::headers
