// SPDX-License-Identifier: MIT
// Walk through a packet's headers: what precedes IP, what IP carries, and inconsistent lengths.
#include "functions/headers/headers.hpp"

#include <netinet/in.h>

#include <string>
#include <vector>

#include "mapi-core/functions/frame_bytes.hpp"
#include "support/catch.hpp"

namespace
{
using mapi::headers::Headers;
using namespace frame_bytes;

Bytes ipv4(uint8_t protocol, const Bytes &payload, uint16_t fragment = 0, uint8_t last_byte = 1)
{
    return hex("4500") + half(20 + payload.size()) + hex("0001") + half(fragment) +
           Bytes{64, protocol} + hex("0000 0a0000") + Bytes{last_byte} + hex("0a000002") + payload;
}

Bytes ipv6(uint8_t next, const Bytes &payload)
{
    return hex("60000000") + half(payload.size()) + Bytes{next, 64} +
           hex("20010db8000000000000000000000001 20010db8000000000000000000000002") + payload;
}

const Bytes kUdp = hex("0035 1234 0008 0000");

struct Parsed {
    Bytes bytes;
    mapi_packet packet{};
    Headers headers;

    // wire_bytes: the length before truncation.
    explicit Parsed(Bytes given, uint16_t link_type = 1, size_t wire_bytes = 0)
        : bytes(std::move(given))
    {
        packet.data = bytes.data();
        packet.caplen = uint32_t(bytes.size());
        packet.wire_len = uint32_t(wire_bytes ? wire_bytes : bytes.size());
        packet.link_type = link_type;
        headers = mapi::headers::parse(packet);
    }
    bool has_udp() const
    {
        const auto *layer = headers.innermost();
        const auto ports = layer ? mapi::headers::ports_of(packet, *layer) : std::nullopt;
        return ports && ports->source == 53 && ports->destination == 0x1234;
    }
};
} // namespace

TEST_CASE("addresses and ports of plain IPv4 and IPv6 are found in their places", "[mapi][headers]")
{
    const Parsed four(ethernet(0x0800, ipv4(IPPROTO_UDP, kUdp)));
    REQUIRE(four.headers.ip_layers == 1);
    CHECK(four.headers.network == 14);
    CHECK(four.headers.ethertype == 0x0800);
    const auto source = mapi::headers::source_of(four.packet, four.headers.ip[0]);
    CHECK(Bytes(source.begin(), source.end()) == hex("0a000001"));
    CHECK(four.has_udp());

    const Parsed six(ethernet(0x86dd, ipv6(IPPROTO_UDP, kUdp)));
    REQUIRE(six.headers.ip_layers == 1);
    const auto destination = mapi::headers::destination_of(six.packet, six.headers.ip[0]);
    CHECK(Bytes(destination.begin(), destination.end()) == hex("20010db8000000000000000000000002"));
    CHECK(six.has_udp());
}

TEST_CASE("tags, labels and PPPoE before IP are skipped and counted", "[mapi][headers]")
{
    const Bytes ip = ipv4(IPPROTO_UDP, kUdp);
    const Parsed tagged(ethernet(0x8100, hex("0064 0800") + ip));
    CHECK(tagged.has_udp());
    CHECK(tagged.headers.vlan_tags == 1);
    const Parsed twice(ethernet(0x88a8, hex("0064 8100 0065 0800") + ip));
    CHECK(twice.has_udp());
    CHECK(twice.headers.vlan_tags == 2);
    const Parsed labelled(ethernet(0x8847, hex("00010040 00011140") + ip));
    CHECK(labelled.has_udp());
    CHECK(labelled.headers.mpls_labels == 2);
    CHECK(labelled.headers.ethertype == 0x0800);
    CHECK(Parsed(ethernet(0x8864, hex("1100 0001 002a 0021") + ip)).has_udp());
    CHECK(Parsed(ethernet(36, hex("aaaa03 000000 0800") + ip)).has_udp());
    CHECK(Parsed(ethernet(0x8100, hex("0014 0024 aaaa03 000000 0800") + ip)).has_udp());
    CHECK(Parsed(ethernet(38, hex("424203") + Bytes(35, 0))).headers.ethertype == 0);
}

TEST_CASE("after labels, a control word leads to a pseudowire's Ethernet", "[mapi][headers]")
{
    const Bytes ip = ipv4(IPPROTO_UDP, kUdp);
    const Parsed four(ethernet(0x8847, hex("00010040 00011140 00000007") + ethernet(0x0800, ip)));
    CHECK(four.has_udp());
    CHECK(four.headers.network == 14 + 2 * 4 + 4 + 14);
    CHECK(four.headers.mpls_labels == 2);
    const Parsed six(
        ethernet(0x8848, hex("00010140 00000000") +
                             ethernet(0x8100, hex("0064 86dd") + ipv6(IPPROTO_UDP, kUdp))));
    CHECK(six.has_udp());
    CHECK(six.headers.vlan_tags == 1);
    CHECK(Parsed(ethernet(0x0800, ipv4(137, hex("00010140 00000000") + ethernet(0x0800, ip))))
              .has_udp());
    const Parsed arp(
        ethernet(0x8847, hex("00010140 00000000") +
                             ethernet(0x0806, hex("0001 0800 06 04 0001") + Bytes(20, 1))));
    CHECK(arp.headers.rest_ethertype == 0x0806);
    CHECK_FALSE(arp.headers.is_lost);
}

TEST_CASE("the payload of labels may be followed by a frame check sequence and padding",
          "[mapi][headers]")
{
    const Bytes labels = hex("00010140"), check(4, 0xfc);
    for (const Bytes &datagram :
         {ipv4(IPPROTO_UDP, kUdp + Bytes(60, 7)), ipv6(IPPROTO_UDP, kUdp + Bytes(60, 7))}) {
        CHECK(Parsed(ethernet(0x8847, labels + datagram + check)).has_udp());
        CHECK_FALSE(Parsed(ethernet(0x8847, labels + datagram + Bytes(5, 1))).has_udp());
        const uint16_t type = datagram[0] >> 4 == 4 ? 0x0800 : 0x86dd;
        CHECK(Parsed(ethernet(0x8847, labels + hex("00000000") + ethernet(type, datagram) + check))
                  .has_udp());
    }
    CHECK(Parsed(ethernet(0x8847, labels + ipv4(IPPROTO_UDP, kUdp) + Bytes(14, 0))).has_udp());
    CHECK(Parsed(ethernet(0x8847, labels + hex("00000000") +
                                      ethernet(0x0800, ipv4(IPPROTO_UDP, kUdp)) + Bytes(22, 0)))
              .has_udp());
}

TEST_CASE("a pseudowire that does not look like Ethernet is lost after its labels",
          "[mapi][headers]")
{
    const Bytes labels = hex("00010140");
    const auto is_lost_there = [](const Parsed &parsed) {
        return parsed.headers.is_lost && parsed.headers.rest == 18 &&
               parsed.headers.ethertype == 0 && parsed.headers.ip_layers == 0;
    };
    CHECK(is_lost_there(Parsed(
        ethernet(0x8847, labels + hex("00000000 0021") + ipv4(IPPROTO_UDP, kUdp))))); // PPP's
    CHECK(is_lost_there(
        Parsed(ethernet(0x8847, labels + hex("00000000") + ipv4(IPPROTO_UDP, kUdp))))); // IP's
    CHECK(is_lost_there(
        Parsed(ethernet(0x8847, labels + hex("00000000") +
                                    ethernet(0x88cc, Bytes(40, 0)))))); // an unsupported type
    CHECK(is_lost_there(Parsed(
        ethernet(0x8847, labels + hex("00000000") + ethernet(38, hex("424203") + Bytes(35, 0))))));
    CHECK(is_lost_there(
        Parsed(ethernet(0x8847, labels + hex("00000000") + ethernet(0x0800, hex("46000014"))))));
    CHECK(is_lost_there(Parsed(
        ethernet(0x8847, labels + hex("00000000") +
                             ethernet(0x8864, hex("110000010020 c021") +
                                                  Bytes(32, 1)))))); // control protocol of PPP
    CHECK(is_lost_there(Parsed(ethernet(
        0x8847, labels + hex("10000021") + ipv4(IPPROTO_UDP, kUdp))))); // associated channel
    const auto from = [](const char *addresses) {
        return hex("45000020 00010000 40 06 0000") + hex(addresses) +
               hex("00000000 00000000 50020000");
    };
    for (const char *const addresses :
         {"08060102 0a000001", "80350102 0a000001", "81000102 08060a01", "08004501 0a000001",
          "86dd6001 0a000001"})
        CHECK(is_lost_there(
            Parsed(ethernet(0x8847, labels + hex("00000000") +
                                        from(addresses))))); // addresses that look like types
    CHECK(is_lost_there(Parsed(ethernet(
        0x8847, labels + hex("00000000 0f000800 45000020 00010000 08 06 0000 0a000001 0a000002") +
                    Bytes(12, 1)))));                  // HDLC's
    for (const char *const first : {"4c", "45", "60"}) // Ethernet's without a control word
        CHECK(is_lost_there(
            Parsed(ethernet(0x8847, labels + hex(first) + hex("0203040506 020000000001 0800") +
                                        ipv4(IPPROTO_UDP, kUdp)))));
    for (size_t bytes = 0; bytes < 4 + 14; ++bytes)
        CHECK(is_lost_there(Parsed(ethernet(0x8847, labels + Bytes(bytes, 0)))));
}

TEST_CASE("nested pseudowires end where the packet does", "[mapi][headers]")
{
    Bytes packet = ethernet(0x0800, ipv4(IPPROTO_UDP, kUdp));
    for (int i = 0; i < 100; ++i)
        packet = ethernet(0x8847, hex("00010140 00000000") + packet);
    CHECK(Parsed(packet).has_udp());
    packet.resize(packet.size() - 30);
    CHECK(Parsed(packet).headers.is_lost);
}

TEST_CASE("each link type leads to the same IP header", "[mapi][headers]")
{
    const Bytes ip = ipv4(IPPROTO_UDP, kUdp);
    CHECK(Parsed(ip, 101).has_udp());
    CHECK(Parsed(ip, 228).has_udp());
    CHECK(Parsed(hex("02000000") + ip, 0).has_udp());
    CHECK(Parsed(hex("00000002") + ip, 108).has_udp());
    CHECK(Parsed(hex("1e000000") + ipv6(IPPROTO_UDP, kUdp), 0).has_udp());
    CHECK(Parsed(hex("ff03 0021") + ip, 9).has_udp());
    CHECK(Parsed(hex("21") + ip, 9).has_udp());
    CHECK(Parsed(hex("0f00 0800") + ip, 104).has_udp());
    CHECK(Parsed(hex("ff03 0021") + ip, 50).has_udp());
    CHECK(Parsed(hex("0000 0001 0006 020000000001 0000 0800") + ip, 113).has_udp());
    CHECK(Parsed(hex("0800 0000 00000001 0001 00 06 0200000000010000") + ip, 276).has_udp());
    CHECK(Parsed(ip, 147).headers.ip_layers == 0); // user-defined
}

TEST_CASE("the innermost IP header of a tunnel gives addresses and ports", "[mapi][headers]")
{
    const Bytes inner = ipv4(IPPROTO_UDP, kUdp, 0, 9);
    const auto innermost_is_inner = [](const Parsed &parsed) {
        return parsed.headers.ip_layers == 2 && parsed.has_udp() &&
               mapi::headers::source_of(parsed.packet, *parsed.headers.innermost())[3] == 9;
    };
    CHECK(innermost_is_inner(Parsed(ethernet(0x0800, ipv4(IPPROTO_IPIP, inner)))));
    CHECK(innermost_is_inner(Parsed(ethernet(0x86dd, ipv6(IPPROTO_IPIP, inner)))));
    CHECK(
        innermost_is_inner(Parsed(ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 0800") + inner)))));
    CHECK(innermost_is_inner(Parsed(
        ethernet(0x0800, ipv4(IPPROTO_GRE, hex("b000 0800 12340000 00000001 00000002") + inner)))));
    CHECK(innermost_is_inner(Parsed(
        ethernet(0x0800, ipv4(IPPROTO_GRE,
                              hex("3081 880b 0020 0001 00000001 00000000 ff03 0021") + inner)))));
    CHECK(innermost_is_inner(
        Parsed(ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 6558") + ethernet(0x0800, inner))))));
    CHECK(innermost_is_inner(
        Parsed(ethernet(0x0800, ipv4(IPPROTO_GRE, hex("1000 88be 00000001 1000 0000 00000000") +
                                                      ethernet(0x0800, inner))))));
    CHECK(innermost_is_inner(
        Parsed(ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 88be") + ethernet(0x0800, inner))))));
    const std::string type3 = "1000 22eb 00000001 2000 0000 00000000 0000 000";
    CHECK(innermost_is_inner(
        Parsed(ethernet(0x0800, ipv4(IPPROTO_GRE, hex(type3 + "0") + ethernet(0x0800, inner))))));
    CHECK(innermost_is_inner(Parsed(ethernet(
        0x0800, ipv4(IPPROTO_GRE, hex(type3 + "1 0000000000000000") + ethernet(0x0800, inner))))));
    CHECK(
        innermost_is_inner(Parsed(ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 883e") + inner)))));
    CHECK(innermost_is_inner(
        Parsed(ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 883e 05590048") + inner)))));
    CHECK(innermost_is_inner(
        Parsed(ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 880b ff03 0021") + inner)))));
    CHECK(innermost_is_inner(
        Parsed(ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 8847 00010140") + inner)))));
    CHECK(innermost_is_inner(Parsed(ethernet(0x0800, ipv4(137, hex("00010140") + inner)))));
    CHECK(Parsed(ethernet(0x0800, ipv4(IPPROTO_IPV6, ipv6(IPPROTO_UDP, kUdp)))).has_udp());
}

TEST_CASE("IPv6 extension headers are skipped, and the last one names the payload",
          "[mapi][headers]")
{
    const Bytes options = hex("0104 00000000"); // after next header and length: padding
    const Parsed chained(
        ethernet(0x86dd, ipv6(IPPROTO_HOPOPTS, hex("3c00") + options + hex("2b00") + options +
                                                   hex("1100") + options + kUdp)));
    CHECK(chained.has_udp());
    CHECK(chained.headers.ip[0].transport == 14 + 40 + 3 * 8);
    const Parsed authenticated(
        ethernet(0x86dd, ipv6(IPPROTO_AH,
                              hex("1104 0000 00000001 00000001 000000000000000000000000") + kUdp)));
    CHECK(authenticated.has_udp());
}

TEST_CASE("a later fragment has no ports, the first one has", "[mapi][headers]")
{
    CHECK(Parsed(ethernet(0x0800, ipv4(IPPROTO_UDP, kUdp, 0x2000))).has_udp());
    const Parsed later(ethernet(0x0800, ipv4(IPPROTO_UDP, kUdp, 0x0004)));
    CHECK_FALSE(later.has_udp());
    CHECK(later.headers.ip[0].is_later_fragment);
    CHECK(Parsed(ethernet(0x86dd, ipv6(IPPROTO_FRAGMENT, hex("1100 0001 00000007") + kUdp)))
              .has_udp());
    const Parsed later_six(
        ethernet(0x86dd, ipv6(IPPROTO_FRAGMENT, hex("1100 0008 00000007") + kUdp)));
    CHECK_FALSE(later_six.has_udp());
    CHECK(later_six.headers.ip[0].protocol == IPPROTO_UDP);
    CHECK_FALSE(Parsed(ethernet(0x86dd, ipv6(IPPROTO_FRAGMENT, hex("1100 0000 00000007") + kUdp)))
                    .headers.ip[0]
                    .is_fragment);
}

TEST_CASE("a datagram ends where its length says, not where the frame does", "[mapi][headers]")
{
    const Parsed padded(ethernet(0x0800, ipv4(IPPROTO_UDP, kUdp) + Bytes(18, 0)));
    CHECK(padded.headers.ip[0].end == 14 + 28);
    Bytes offloaded = ipv4(IPPROTO_UDP, kUdp + Bytes(100, 7));
    offloaded[2] = offloaded[3] = 0;
    CHECK(Parsed(ethernet(0x0800, offloaded)).headers.ip[0].end == 14 + 128);
    // padding is not a TCP header of an empty datagram
    CHECK_FALSE(mapi::headers::ports_of(
        Parsed(ethernet(0x0800, ipv4(IPPROTO_TCP, {}) + Bytes(26, 1))).packet,
        Parsed(ethernet(0x0800, ipv4(IPPROTO_TCP, {}) + Bytes(26, 1))).headers.ip[0]));
}

TEST_CASE("inconsistent lengths end the walk", "[mapi][headers]")
{
    Bytes short_header = ipv4(IPPROTO_UDP, kUdp);
    short_header[0] = 0x44;
    CHECK(Parsed(ethernet(0x0800, short_header)).headers.ip_layers == 0);
    Bytes short_total = ipv4(IPPROTO_UDP, kUdp);
    short_total[3] = 19;
    CHECK(Parsed(ethernet(0x0800, short_total)).headers.ip_layers == 0);
    Bytes long_extension = ipv6(IPPROTO_HOPOPTS, hex("11ff 0104 00000000") + kUdp);
    CHECK_FALSE(Parsed(ethernet(0x86dd, long_extension)).has_udp());
}

TEST_CASE("endless IP in IP is walked four times", "[mapi][headers]")
{
    Bytes packet = ipv4(IPPROTO_UDP, kUdp);
    for (int i = 0; i < 100; ++i)
        packet = ipv4(IPPROTO_IPIP, packet);
    CHECK(Parsed(ethernet(0x0800, packet)).headers.ip_layers == mapi::headers::kIpLayersMax);
}

TEST_CASE("a packet truncated anywhere is walked to its end and no further", "[mapi][headers]")
{
    const Bytes inner = ipv6(IPPROTO_HOPOPTS, hex("1100 0104 00000000") + kUdp);
    const Bytes whole = ethernet(
        0x88a8, hex("0064 8847 00010140") +
                    ipv4(IPPROTO_GRE, hex("b000 86dd 12340000 00000001 00000002") + inner));
    REQUIRE(Parsed(whole).has_udp());
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
        const Parsed cut(Bytes(whole.begin(), whole.begin() + long(bytes)), 1, whole.size());
        for (unsigned i = 0; i < cut.headers.ip_layers; ++i) {
            const auto &layer = cut.headers.ip[i];
            CHECK(layer.offset <= layer.transport);
            CHECK(layer.transport <= layer.end);
            CHECK(layer.end <= bytes);
        }
        CHECK(cut.has_udp() == (bytes >= whole.size() - 4));
    }
}

TEST_CASE("the walk reports where it was lost, and where there is nothing more to walk",
          "[mapi][headers]")
{
    const Bytes ip = ipv4(IPPROTO_UDP, kUdp);
    CHECK_FALSE(Parsed(ethernet(0x0800, ip)).headers.is_lost);
    CHECK_FALSE(Parsed(ethernet(0x0806, Bytes(28, 0))).headers.is_lost);
    CHECK_FALSE(Parsed(ethernet(0x8864, hex("1100 0001 0006 c021") + Bytes(4, 0)))
                    .headers.is_lost); // control protocol of PPP

    const Parsed cut(ethernet(0x0800, hex("45000014")));
    CHECK(cut.headers.is_lost);
    CHECK(cut.headers.rest == 14);
    const Parsed tunnel(ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 0800 46"))));
    CHECK(tunnel.headers.is_lost);
    CHECK(tunnel.headers.rest == 14 + 20 + 4);
    Bytes deep = ip;
    for (int i = 0; i < 4; ++i)
        deep = ipv4(IPPROTO_IPIP, deep);
    CHECK(Parsed(ethernet(0x0800, deep)).headers.is_lost);
    CHECK(Parsed(ethernet(0x8847, hex("00010140") + Bytes(20, 0xee)))
              .headers.is_lost); // a label without IP after it
    CHECK(Parsed(ethernet(0x8864, hex("1100 0001 002a 002f") + Bytes(40, 0)))
              .headers.is_lost);                      // compressed TCP/IP
    CHECK(Parsed(Bytes(40, 0), 127).headers.is_lost); // an unknown link type
    CHECK(Parsed(hex("0200")).headers.rest == 0);
}
