// SPDX-License-Identifier: MIT
// Link head: the table, and the link types inside PPI, PKTAP and ERF.
#include "links/link_head.hpp"

#include "links/erf_record.hpp"
#include "links/link_type.hpp"

namespace mapi::links
{
namespace
{
struct Row {
    uint16_t number;
    LinkHead head;
};

constexpr Row kRows[] = {
    {kNull, {Start::kFamily, 4}},
    {kEthernet, {Start::kEthernet}},
    {kTokenRing, {Start::kTokenRing}},
    {kSlip, {Start::kSlip, 16}},
    {kPpp, {Start::kPpp}},
    {kFddi, {Start::kLlc, 13}},
    {kPppHdlc, {Start::kHdlc}},
    {kPppEther, {Start::kPppoe}},
    {kAtmLlc, {Start::kLlc}},
    {kRaw, {Start::kIp}},
    {kSlipBsdOs, {Start::kSlip, 24}},
    {kPppBsdOs, {Start::kPppBsdOs}},
    {kCiscoHdlc, {Start::kHdlc}},
    {kWireless, {Start::kWireless}},
    {kAtmClip, {Start::kLlc}},
    {kFrameRelay, {Start::kFrameRelay}},
    {kLoop, {Start::kFamily, 4}},
    {kEnc, {Start::kFamily, 12}},
    {kLinuxSll, {Start::kEthertype, 16, 14}},
    {kPflog, {Start::kPflog}},
    {kWirelessPrism, {Start::kPrism}},
    {kIpOverFc, {Start::kLlc, 16}},
    {kSunAtm, {Start::kSunAtm}},
    {kWirelessRadiotap, {Start::kRadiotap}},
    {kIpOverFirewire, {Start::kEthertype, 18, 16}},
    {kWirelessAvs, {Start::kAvs}},
    {kPppd, {Start::kPpp, 2}}, // after a direction byte and the control byte
    {kErfEthernet, {Start::kErf}},
    {kErfPos, {Start::kErf}},
    {kPpi, {Start::kPpi}},
    {kErf, {Start::kErf}},
    {kPppWithDirection, {Start::kPpp, 1}},
    {kCiscoHdlcWithDirection, {Start::kHdlc, 1}},
    {kFrameRelayWithDirection, {Start::kFrameRelay, 1}},
    {kMpls, {Start::kMpls}},
    {kIpnet, {Start::kIpnet}},
    {kIpv4, {Start::kIp}},
    {kIpv6, {Start::kIp}},
    {kNflog, {Start::kNflog}},
    {kNetAnalyzer, {Start::kEthernet, 4}},
    {kNetAnalyzerTransparent, {Start::kEthernet, 12}},
    {kIpoib, {Start::kEthertype, 44, 40}},
    {kPktap, {Start::kPktap}},
    {kLinuxSll2, {Start::kEthertype, 20, 0}},
};

constexpr std::array<LinkHead, kHeadsEnd> make_heads()
{
    std::array<LinkHead, kHeadsEnd> heads = {};
    for (const Row &row : kRows)
        heads[row.number] = row.head;
    return heads;
}

uint32_t little_endian(const uint8_t *at)
{
    return uint32_t(at[0]) | uint32_t(at[1]) << 8 | uint32_t(at[2]) << 16 | uint32_t(at[3]) << 24;
}

// PPI and PKTAP have a DLT_ number of the inner link type at some offset, and their own length
// before it.
bool read_header(const uint8_t *data, uint32_t caplen, uint32_t bytes, uint32_t least,
                 uint32_t type_at, InnerLink &inner)
{
    if (bytes < least || bytes > caplen)
        return false;
    const uint32_t number = from_recorded(little_endian(data + type_at));
    inner = {uint16_t(number), bytes};
    return number < kHeadsEnd;
}

bool read_erf(const uint8_t *data, uint32_t caplen, InnerLink &inner)
{
    if (caplen < ErfRecord::kHeaderBytes)
        return false;
    const ErfRecord record(data);
    const ErfType &type = record.type();
    const uint32_t offset = record.frame_offset(caplen);
    if (type.content < ErfContent::kFrame || offset > caplen)
        return false;
    inner = {type.content == ErfContent::kHdlc ? uint16_t(kCiscoHdlc) : type.link_type,
             offset}; // kHdlc recognizes PPP's framing, too
    return true;
}
} // namespace

constinit const std::array<LinkHead, kHeadsEnd> kHeads = make_heads();

bool inner_link(Start start, const uint8_t *data, uint32_t caplen, InnerLink &inner)
{
    constexpr uint32_t kPpiBytes = 8, kPktapBytes = 12, kPktapPacket = 1;
    switch (start) {
    case Start::kPpi:
        return caplen >= kPpiBytes &&
               read_header(data, caplen, little_endian(data) >> 16, kPpiBytes, 4, inner);
    case Start::kPktap: // all Apple machines are little-endian
        return caplen >= kPktapBytes && little_endian(data + 4) == kPktapPacket &&
               read_header(data, caplen, little_endian(data), kPktapBytes, 8, inner);
    case Start::kErf: return read_erf(data, caplen, inner);
    default: return false;
    }
}

bool is_known(const mapi_packet &packet)
{
    const Start start = head_of(packet.link_type).start;
    InnerLink inner;
    if (!is_container(start))
        return start != Start::kUnknown;
    if (!inner_link(start, packet.data, packet.caplen, inner))
        return false;
    const Start inside = head_of(inner.link_type).start;
    return inside != Start::kUnknown && !is_container(inside);
}
} // namespace mapi::links
