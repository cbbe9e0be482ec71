// SPDX-License-Identifier: MIT
// Head: lengths from the innermost header outwards, then checksums likewise, since an outer
// checksum may cover an inner one.
#include "functions/cooking/head.hpp"

#include <algorithm>
#include <cstring>

#include <netinet/in.h>

#include "anonymize/bytes.hpp"
#include "headers/end_addresses.hpp"
#include "headers/internet_sum.hpp"
#include "links/erf_record.hpp"
#include "links/link_type.hpp"

namespace mapi::cooking
{
namespace
{
using anonymize::half_at;
using anonymize::put_half;
using anonymize::put_word;
using headers::folded;
using headers::sum_of;

constexpr uint32_t kPppoeBytes = 8; // with the PPP protocol number
constexpr uint16_t kPppoeSession = 0x8864;
constexpr uint16_t kGreChecksum = 0x8000, kGreVersion = 7;
constexpr uint16_t kDoNotFragment = 0x4000;

void put_ip_length(uint8_t *header, uint32_t bytes)
{
    if (header[0] >> 4 == 4)
        put_half(header + 2, bytes);
    else
        put_half(header + 4, bytes - 40);
}

// For PPPoE, whose header also contains a length; RFC 2516.
void put_pppoe_length(uint8_t *data, uint32_t network, uint32_t bytes)
{
    if (network < kPppoeBytes + 2)
        return;
    uint8_t *const at = data + network - kPppoeBytes;
    const uint16_t ppp = half_at(at + 6);
    if (half_at(at - 2) == kPppoeSession && at[0] == 0x11 && at[1] == 0 &&
        (ppp == 0x0021 || ppp == 0x0057))
        put_half(at + 4, bytes + 2);
}

bool is_erf(uint16_t link_type)
{
    return link_type == links::kErf || link_type == links::kErfEthernet ||
           link_type == links::kErfPos;
}

// For link headers that contain the length of their payload.
void put_link_length(uint8_t *data, const Head &head, uint32_t bytes)
{
    constexpr uint32_t kAttributeBytes = 4, kErfRecordLength = 10, kErfWireLength = 14;
    const uint32_t network = head.network();
    if (head.link_type == links::kPppEther) {
        put_half(data + 4, bytes - (kPppoeBytes - 2));
    } else if (head.link_type == links::kNflog && network >= kAttributeBytes) {
        const auto attribute =
            uint16_t(bytes - network + kAttributeBytes); // in this machine's byte order
        memcpy(data + network - kAttributeBytes, &attribute, sizeof(attribute));
    } else if (is_erf(head.link_type)) {
        put_half(data + kErfRecordLength, bytes);
        put_half(data + kErfWireLength, bytes - links::ErfRecord(data).frame_offset(network));
    } else {
        put_pppoe_length(data, network, bytes - network);
    }
}

void put_tcp_checksum(uint8_t *ip, uint32_t ip_bytes, uint32_t tcp_bytes)
{
    const uint32_t addresses = ip_bytes == 20 ? 8 : 32;
    uint8_t *const tcp = ip + ip_bytes;
    put_half(tcp + 16, 0);
    put_half(tcp + 16, folded(sum_of(ip + ip_bytes - addresses, addresses) + IPPROTO_TCP +
                              tcp_bytes + sum_of(tcp, tcp_bytes)));
}

// Of the header itself, and of a GRE header after it.
void put_outer_checksums(uint8_t *header, uint32_t bytes)
{
    const bool is_ipv4 = header[0] >> 4 == 4;
    const uint32_t header_bytes = is_ipv4 ? (header[0] & 15u) * 4 : 40;
    if (is_ipv4) {
        put_half(header + 10, 0);
        put_half(header + 10, folded(sum_of(header, header_bytes)));
    }
    uint8_t *const gre = header + header_bytes;
    if (header[is_ipv4 ? 9 : 6] != IPPROTO_GRE ||
        (half_at(gre) & (kGreChecksum | kGreVersion)) != kGreChecksum)
        return;
    put_half(gre + 4, 0);
    put_half(gre + 4, folded(sum_of(gre, bytes - header_bytes)));
}
} // namespace

bool can_be_head(const headers::Headers &found)
{
    const headers::IpLayer *const ip = found.innermost();
    if (!ip || ip->offset > kPrefixBytesMost)
        return false;
    return std::none_of(found.ip.begin(), found.ip.begin() + found.ip_layers - 1,
                        [](const headers::IpLayer &layer) { return layer.is_fragment; });
}

void begin_head(Head &head, const mapi_packet &packet, const headers::Headers &found)
{
    const headers::IpLayer &ip = *found.innermost();
    const uint32_t ip_bytes = ip.version == 4 ? 20 : 40;
    head.bytes.assign(packet.data, packet.data + ip.offset + ip_bytes);
    head.ip = uint16_t(ip.offset);
    head.outers = uint8_t(found.ip_layers - 1);
    for (uint8_t i = 0; i < head.outers; ++i)
        head.outer[i] = uint16_t(found.ip[i].offset);
    head.link_type = packet.link_type;
    head.ifindex = packet.ifindex;
    head.is_link_length_short = packet.link_type == links::kPppEther ||
                                packet.link_type == links::kNflog || is_erf(packet.link_type);
    uint8_t *const header = head.bytes.data() + ip.offset;
    if (const auto ends = headers::end_addresses_of(packet.data, ip)) // the source route is removed
        std::copy(ends->both().begin(), ends->both().end(), header + (ip.version == 4 ? 12 : 8));
    if (ip.version == 4) {
        header[0] = 0x45;
        put_half(header + 6, half_at(header + 6) & kDoNotFragment);
    }
    header[ip.version == 4 ? 9 : 6] = IPPROTO_TCP;
}

void end_head(Head &head, const uint8_t *tcp)
{
    head.bytes.insert(head.bytes.end(), tcp, tcp + kTcpBytes);
    uint8_t *const own = head.bytes.data() + head.bytes.size() - kTcpBytes;
    own[12] = uint8_t(kTcpBytes / 4 << 4 | (own[12] & 15));
    put_half(own + 18, 0); // urgent data is treated like any other
}

void make_packet(functions::MadePackets &made, const Head &head, uint32_t sequence, uint8_t flags,
                 std::span<const uint8_t> payload, uint64_t timestamp_ns)
{
    const uint32_t head_bytes = uint32_t(head.bytes.size());
    const uint32_t bytes = head_bytes + uint32_t(payload.size());
    const uint32_t ip_bytes = head.ip_bytes();
    mapi_packet like{};
    like.timestamp_ns = timestamp_ns;
    like.link_type = head.link_type;
    like.ifindex = head.ifindex;
    uint8_t *const data = made.add(like, bytes, bytes);
    std::copy(head.bytes.begin(), head.bytes.end(), data);
    std::copy(payload.begin(), payload.end(), data + head_bytes);
    uint8_t *const tcp = data + head_bytes - kTcpBytes;
    put_word(tcp + 4, sequence);
    tcp[13] = flags;
    put_link_length(data, head, bytes);
    for (uint8_t i = 0; i < head.outers; ++i)
        put_ip_length(data + head.outer[i], bytes - head.outer[i]);
    put_ip_length(data + head.ip, bytes - head.ip);
    put_tcp_checksum(data + head.ip, ip_bytes, bytes - head.ip - ip_bytes);
    put_outer_checksums(data + head.ip, bytes - head.ip);
    for (uint8_t i = head.outers; i-- > 0;)
        put_outer_checksums(data + head.outer[i], bytes - head.outer[i]);
}
} // namespace mapi::cooking
