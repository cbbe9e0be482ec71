// SPDX-License-Identifier: MIT
// Flow packet: which flow a packet belongs to, and its length according to IP.
#include "functions/flow_cache/flow_packet.hpp"

#include <algorithm>
#include <vector>

#include <netinet/in.h>

#include "mapi-core/functions/frame_bytes.hpp"
#include "support/catch.hpp"

using mapi::functions::FlowKey;
using mapi::functions::FlowPacket;

namespace
{
using frame_bytes::Bytes;
using frame_bytes::operator+; // NOLINT(misc-unused-using-decls): it does not see uses of operators

const Bytes kEthernet = Bytes(12, 2);
const Bytes kPorts = {0x12, 0x34, 0, 53, 0, 8, 0, 0}; // UDP from 4660 to 53

Bytes ipv4(uint8_t protocol, const Bytes &payload, uint16_t reported = 0)
{
    const size_t bytes = reported ? reported : 20 + payload.size();
    return Bytes{0x45,
                 0xb8,
                 uint8_t(bytes >> 8),
                 uint8_t(bytes),
                 0,
                 0,
                 0,
                 0,
                 61,
                 protocol,
                 0,
                 0,
                 192,
                 0,
                 2,
                 1,
                 192,
                 0,
                 2,
                 2} +
           payload;
}

Bytes ipv6(uint8_t protocol, const Bytes &payload)
{
    Bytes header = {0x6a,     0xb0, 0, 5, uint8_t(payload.size() >> 8), uint8_t(payload.size()),
                    protocol, 62};
    header = header + Bytes(15, 0x11) + Bytes{1} + Bytes(15, 0x11) + Bytes{2};
    return header + payload;
}

mapi_packet view(const Bytes &bytes, uint32_t wire_len = 0)
{
    mapi_packet packet{};
    packet.data = bytes.data();
    packet.caplen = uint32_t(bytes.size());
    packet.wire_len = wire_len ? wire_len : packet.caplen;
    packet.link_type = 1;
    return packet;
}
} // namespace

TEST_CASE("a flow is identified by addresses, ports and protocol after tags, labels and GRE",
          "[mapi-core][functions]")
{
    const Bytes inner = ipv4(IPPROTO_UDP, kPorts);
    const std::vector<Bytes> frames = {
        kEthernet + Bytes{8, 0} + inner,
        kEthernet + Bytes{0x81, 0, 0, 5, 8, 0} + inner,
        kEthernet + Bytes{0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0} + inner,
        kEthernet + Bytes{0x88, 0x47, 0, 1, 1, 64} + inner,
        kEthernet + Bytes{0x86, 0xdd} + ipv6(IPPROTO_GRE, Bytes{0, 0, 8, 0} + inner),
    };
    for (const Bytes &frame : frames) {
        const mapi_packet bytes = view(frame);
        const FlowPacket packet(bytes);
        REQUIRE(packet.has_flow());
        const FlowKey key = packet.key();
        CHECK(key.version == 4);
        CHECK(key.protocol == IPPROTO_UDP);
        CHECK(key.source_port == 0x1234);
        CHECK(key.destination_port == 53);
        CHECK(key.source[3] == 1);
        CHECK(key.destination[3] == 2);
        CHECK(std::all_of(key.source + 4, key.source + 16, [](uint8_t byte) { return byte == 0; }));
        CHECK(packet.ip_bytes() == 28);
        CHECK(packet.ttl() == 61);
        CHECK(packet.type_of_service() == 0xb8);
    }
}

TEST_CASE("flows of IPv6 have its hop limit and traffic class", "[mapi-core][functions]")
{
    const Bytes frame = kEthernet + Bytes{0x86, 0xdd} + ipv6(IPPROTO_UDP, kPorts);
    const mapi_packet bytes = view(frame);
    const FlowPacket packet(bytes);
    REQUIRE(packet.has_flow());
    CHECK(packet.key().version == 6);
    CHECK(packet.key().destination[15] == 2);
    CHECK(packet.key().destination_port == 53);
    CHECK(packet.ip_bytes() == 48);
    CHECK(packet.ttl() == 62);
    CHECK(packet.type_of_service() == 0xab);
}

TEST_CASE("the protocol after AH is that of what it protects, in both IP versions",
          "[mapi-core][functions]")
{
    const Bytes ah = Bytes{IPPROTO_UDP, 4} + Bytes(22, 0);
    for (const Bytes &frame : {kEthernet + Bytes{8, 0} + ipv4(IPPROTO_AH, ah + kPorts),
                               kEthernet + Bytes{0x86, 0xdd} + ipv6(IPPROTO_AH, ah + kPorts)}) {
        const mapi_packet bytes = view(frame);
        const FlowPacket packet(bytes);
        REQUIRE(packet.has_flow());
        CHECK(packet.key().protocol == IPPROTO_UDP);
        CHECK(packet.key().source_port == 0x1234);
    }
}

TEST_CASE("a packet's VLAN is that of its outermost tag", "[mapi-core][functions]")
{
    const Bytes inner = ipv4(IPPROTO_UDP, kPorts);
    const Bytes cooked = Bytes(14, 0) + Bytes{0x81, 0, 0xe0, 7, 8, 0} + inner; // Linux cooked
    mapi_packet tagged, cooked_bytes = view(cooked);
    cooked_bytes.link_type = 113;
    CHECK(FlowPacket(cooked_bytes).headers.vlan == 7);
    const Bytes single = kEthernet + Bytes{0x81, 0, 0x2f, 0xff, 8, 0} + inner,
                twice = kEthernet + Bytes{0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0} + inner,
                none = kEthernet + Bytes{8, 0} + inner;
    CHECK(FlowPacket(tagged = view(single)).headers.vlan == 0xfff);
    CHECK(FlowPacket(tagged = view(twice)).headers.vlan == 5);
    CHECK(FlowPacket(tagged = view(none)).headers.vlan == 0);
}

TEST_CASE("an IP packet's length is that of its header, or the wire length if the header has none",
          "[mapi-core][functions]")
{
    const Bytes frame = kEthernet + Bytes{8, 0} + ipv4(IPPROTO_UDP, kPorts, 1000);
    Bytes without = frame; // as offload of a network card leaves it
    without[14 + 2] = without[14 + 3] = 0;
    const mapi_packet whole = view(frame), cut = view(frame, 500), padded = view(frame, 2000),
                      offloaded = view(without, 9000);
    CHECK(FlowPacket(whole).ip_bytes() == 1000);
    CHECK(FlowPacket(cut).ip_bytes() == 1000);
    CHECK(FlowPacket(padded).ip_bytes() == 1000);
    CHECK(FlowPacket(offloaded).ip_bytes() == 8986);
}

TEST_CASE("later fragments have no ports, and packets that are not IP have no flow",
          "[mapi-core][functions]")
{
    Bytes fragment = kEthernet + Bytes{8, 0} + ipv4(IPPROTO_UDP, kPorts);
    fragment[14 + 7] = 1; // fragment offset
    const mapi_packet later = view(fragment);
    CHECK(FlowPacket(later).key().source_port == 0);
    const Bytes arp = kEthernet + Bytes{8, 6} + Bytes(28, 0);
    const mapi_packet other = view(arp);
    CHECK_FALSE(FlowPacket(other).has_flow());
}
