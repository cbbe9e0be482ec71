// SPDX-License-Identifier: MIT
// Layers: no address of a tunnelled or quoted packet remains, and what cannot be parsed is removed.
#include <netinet/in.h>

#include "packets.hpp"
#include "support/catch.hpp"

using namespace anonymize_test;

namespace
{
bool contains(const Bytes &bytes, const Bytes &part)
{
    return std::search(bytes.begin(), bytes.end(), part.begin(), part.end()) != bytes.end();
}

const Bytes kSource4 = hex("0a000001"), kDestination4 = hex("0a000002");
const Bytes kSource6 = hex("2a001234000000000000000000000001"),
            kDestination6 = hex("2a001234000000000000000000000002");

// No rule that hides addresses leaves one.
void check_hidden(const Bytes &packet, uint16_t link_type = 1)
{
    for (const char *method : {"ZERO", "RANDOM", "MAP", "PREFIX_PRESERVING",
                               "PREFIX_PRESERVING_MAP", "HASHED,SHA_2,PAD_WITH_ZERO"}) {
        INFO(method);
        const Bytes sources =
            treat(std::string("IP,SRC_IP,") + method, packet, 512, link_type).bytes;
        CHECK(sources.size() == packet.size());
        CHECK_FALSE(contains(sources, kSource4));
        CHECK_FALSE(contains(sources, kSource6));
        const Bytes destinations =
            treat(std::string("IP,DST_IP,") + method, packet, 512, link_type).bytes;
        CHECK_FALSE(contains(destinations, kDestination4));
        CHECK_FALSE(contains(destinations, kDestination6));
    }
}

const Bytes kInner4 = ipv4(IPPROTO_TCP, tcp(text("x")));
const Bytes kInner6 = ipv6(IPPROTO_UDP, udp(text("y")));
} // namespace

TEST_CASE("every address in a tunnel is hidden, not only the outermost", "[mapi-core][anonymize]")
{
    check_hidden(ethernet(0x0800, ipv4(IPPROTO_IPIP, kInner4)));
    check_hidden(ethernet(0x0800, ipv4(IPPROTO_IPV6, kInner6)));
    check_hidden(ethernet(0x86dd, ipv6(IPPROTO_IPIP, kInner4)));
    check_hidden(
        ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 0800") + ipv4(IPPROTO_IPIP, kInner4))));
    check_hidden(
        ethernet(0x0800, ipv4(IPPROTO_GRE,
                              hex("0000 6558") + ethernet(0x8100, hex("0001 86dd") + kInner6))));
}

TEST_CASE("every address in a pseudowire is hidden, also in one that is not Ethernet",
          "[mapi-core][anonymize]")
{
    const Bytes shim = hex("00010140 00000000");
    check_hidden(ethernet(0x8847, shim + ethernet(0x0800, kInner4)));
    check_hidden(ethernet(0x8847, shim + ethernet(0x8100, hex("0001 86dd") + kInner6)));
    check_hidden(ethernet(0x8847, shim + kInner4));
    check_hidden(ethernet(0x8847, shim + hex("0057") + kInner6));
    check_hidden(
        ethernet(0x8847, shim + hex("0f000800 45000028 00010000 08 06 bbbb 0a000001 0a000002") +
                             Bytes(20, 1)));
    check_hidden(ethernet(0x8847, hex("00010140 4c0203040506 020000000001 0800") + kInner4));
    const Bytes treated =
        treat("IP,SRC_IP,ZERO", ethernet(0x8847, shim + ethernet(0x0800, kInner4))).bytes;
    CHECK(contains(treated, kDestination4)); // is parsed, not filled with zeros
}

TEST_CASE("every address in a UDP tunnel is hidden on the tunnel's port", "[mapi-core][anonymize]")
{
    const auto tunnel = [](uint16_t port, const Bytes &inner) {
        return ethernet(0x0800, ipv4(IPPROTO_UDP, udp(inner, 1025, port)));
    };
    check_hidden(tunnel(4789, hex("08000000 00000100") + ethernet(0x0800, kInner4)));
    check_hidden(tunnel(8472, hex("08000000 00000100") + ethernet(0x86dd, kInner6)));
    check_hidden(tunnel(6081, hex("01006558 00000100 00000000") + ethernet(0x0800, kInner4)));
    check_hidden(tunnel(6081, hex("000086dd 00000100") + kInner6));
    check_hidden(tunnel(2152, hex("30ff0000 00000001") + kInner4));
    check_hidden(tunnel(2152, hex("34ff0000 00000001 00000085 01000000") + kInner4));
    check_hidden(tunnel(3544, kInner6));
    check_hidden(tunnel(3544, hex("0001 00 00 0102030405060708 00 0000 ffff 01020304") + kInner6));
    check_hidden(tunnel(1701, hex("0002 0001 0001 ff03 0021") + kInner4));
    check_hidden(tunnel(1701, hex("4a02 0030 0001 0001 0001 0001 0002 0000 ff03 0057") + kInner6));
    check_hidden(tunnel(4789, hex("08000000 00000100") +
                                  ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(3, kInner4)))));
    const Bytes odd = tunnel(4789, hex("08000000 00000100") + Bytes(10, 7));
    CHECK(treat("IP,SRC_IP,ZERO", odd).counts.lost_packets == 1);
    const Bytes echo = tunnel(2152, hex("30010000 00000001 0e01"));
    CHECK(treat("IP,TTL,ZERO", echo).bytes == with_zeros(echo, 14 + 8, 1));
}

TEST_CASE("unsupported tunnels become zeros after the last header that is understood",
          "[mapi-core][anonymize]")
{
    for (const uint16_t type : {0x8909, 0x88e5, 0x893f, 0x894f})
        check_hidden(ethernet(type, hex("00010001 0800") + kInner4));
    for (const uint8_t protocol : {55, 94, 97, 108, 115})
        check_hidden(ethernet(0x0800, ipv4(protocol, hex("0000") + kInner4)));
    for (const uint16_t port : {4341, 4790, 5072, 6343, 6635})
        check_hidden(
            ethernet(0x0800, ipv4(IPPROTO_UDP, udp(hex("00000000") + kInner4, port, 1025))));
}

TEST_CASE("ARP in a tunnel is treated as ARP", "[mapi-core][anonymize]")
{
    const Bytes arp =
        ethernet(0x0806, hex("0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002"));
    check_hidden(ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 6558") + arp)));
    check_hidden(
        ethernet(0x0800, ipv4(IPPROTO_UDP, udp(hex("08000000 00000100") + arp, 1025, 4789))));
}

TEST_CASE("lengths of a UDP tunnel follow changes of its packet", "[mapi-core][anonymize]")
{
    const Bytes packet = ethernet(
        0x0800,
        ipv4(IPPROTO_UDP,
             udp(hex("30ff0000 00000001") + ipv4(IPPROTO_TCP, tcp(text("hello"))), 1, 2152)));
    const Bytes stripped = treat("TCP,PAYLOAD,STRIP", packet).bytes;
    CHECK(stripped.size() == packet.size() - 5);
    for (const size_t length : {14 + 3, 14 + 20 + 5, 14 + 28 + 8 + 3})
        CHECK(stripped[length] == packet[length] - 5);
}

TEST_CASE("tags, labels and PPPoE hide no address from a rule", "[mapi-core][anonymize]")
{
    check_hidden(ethernet(0x88a8, hex("0064 8100 0065 0800") + kInner4));
    check_hidden(ethernet(0x8847, hex("00010040 00011140") + kInner6));
    check_hidden(ethernet(0x8864, hex("1100 0001 002a 0021") + kInner4));
    check_hidden(hex("0000 0001 0006 020000000001 0000 0800") + kInner4, 113);
    check_hidden(kInner6, 101);
}

TEST_CASE("a packet quoted in an ICMP error is treated like the one that quotes it",
          "[mapi-core][anonymize]")
{
    const Bytes quote(kInner4.begin(), kInner4.begin() + 28);
    for (const uint8_t type : {3, 4, 5, 11, 12})
        check_hidden(ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(type, quote))));
    for (const uint8_t type : {1, 2, 3, 4})
        check_hidden(ethernet(0x86dd, ipv6(IPPROTO_ICMPV6, icmp(type, kInner6))));
    check_hidden(ethernet(
        0x0800, ipv4(IPPROTO_ICMP, icmp(3, ipv4(IPPROTO_GRE, hex("0000 86dd") + kInner6)))));
}

TEST_CASE("ports and numbers of a quoted packet are also treated", "[mapi-core][anonymize]")
{
    const Bytes quote(kInner4.begin(), kInner4.begin() + 28);
    const Bytes packet = ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(3, quote)));
    const size_t tcp_header = 14 + 20 + 8 + 20;
    CHECK(treat("TCP,SRC_PORT,ZERO", packet).bytes == with_zeros(packet, tcp_header, 2));
    CHECK(treat("TCP,DST_PORT,ZERO", packet).bytes == with_zeros(packet, tcp_header + 2, 2));
    CHECK(treat("TCP,SEQUENCE_NUMBER,ZERO", packet).bytes == with_zeros(packet, tcp_header + 4, 4));
    CHECK(treat("TCP,ACK_NUMBER,ZERO", packet).bytes == packet); // not quoted
    CHECK(treat("IP,ID,ZERO", packet).bytes ==
          with_zeros(with_zeros(packet, 14 + 4, 2), 14 + 28 + 4, 2));
    const Bytes cut(packet.begin(), packet.begin() + long(tcp_header) + 3);
    CHECK(treat("TCP,DST_PORT,ZERO", cut).bytes == with_zeros(cut, tcp_header + 2, 1));
    CHECK(treat("TCP,DST_PORT,MAP", cut).counts.cut_fields == 1);
}

TEST_CASE("payload in a quoted packet is payload", "[mapi-core][anonymize]")
{
    const Bytes packet =
        ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(3, ipv4(IPPROTO_UDP, udp(text("secret"))))));
    CHECK(treat("UDP,PAYLOAD,ZERO", packet).bytes == with_zeros(packet, packet.size() - 6, 6));
    const Treated stripped = treat("UDP,PAYLOAD,STRIP", packet);
    CHECK(stripped.bytes.size() == packet.size() - 6);
    CHECK(stripped.wire_len == packet.size() - 6);
    CHECK(stripped.bytes[14 + 3] == packet[14 + 3] - 6); // both IP lengths
    CHECK(stripped.bytes[14 + 28 + 3] == packet[14 + 28 + 3] - 6);
    CHECK(stripped.bytes[14 + 28 + 20 + 5] == 8); // and UDP's
}

TEST_CASE("an echo is not a quotation", "[mapi-core][anonymize]")
{
    const Bytes packet = ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(8, kInner4)));
    CHECK(treat("TCP,SRC_PORT,ZERO", packet).bytes == packet);
}

TEST_CASE("a packet truncated anywhere shows no whole or partial address", "[mapi-core][anonymize]")
{
    // Each byte of an address occurs nowhere else in the packet.
    Bytes inner = ipv4(IPPROTO_TCP, tcp(text("x")));
    std::fill_n(inner.begin() + 12, 8, uint8_t(0xa7));
    const Bytes quote = ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(3, inner)));
    const Bytes tunnel = ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 0800") + inner));
    const Bytes labelled = ethernet(0x8847, hex("00010140") + inner);
    for (const Bytes &whole : {quote, tunnel, labelled, ethernet(0x0800, inner)})
        for (size_t bytes = 0; bytes <= whole.size(); ++bytes) {
            const Bytes cut(whole.begin(), whole.begin() + long(bytes));
            const Bytes half_way = treat("IP,SRC_IP,ZERO", cut).bytes;
            CHECK_FALSE(contains(treat("IP,DST_IP,ZERO", half_way).bytes, hex("a7")));
        }
}

TEST_CASE("where a header cannot be read, nothing after it remains, and the packet is counted",
          "[mapi-core][anonymize]")
{
    const Bytes short_header =
        ethernet(0x0800, hex("4400") + Bytes(kInner4.begin() + 2, kInner4.end()));
    const Treated treated = treat("IP,SRC_IP,PREFIX_PRESERVING", short_header);
    CHECK(treated.bytes == with_zeros(short_header, 14, short_header.size() - 14));
    CHECK(treated.counts.lost_packets == 1);
    CHECK(treated.counts.packets_without == 0);

    const Bytes wireless(60, 0x33); // an unknown link type
    CHECK(treat("IP,SRC_IP,ZERO", wireless, 0, 127).bytes == Bytes(60, 0));
    CHECK(treat("TCP,PAYLOAD,STRIP", wireless, 0, 127).bytes == Bytes(60, 0));
    CHECK(treat("IP,SRC_IP,UNCHANGED", wireless, 0, 127).bytes == wireless);

    const Bytes pseudowire = ethernet(0x8847, hex("00010140 00000000") + ethernet(0x0800, kInner4));
    check_hidden(pseudowire);
    check_hidden(ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(3, hex("99") + kInner4))));
}

TEST_CASE("tunnels and quotations nested too deeply become zeros from there on",
          "[mapi-core][anonymize]")
{
    Bytes tunnel = kInner4;
    for (int i = 0; i < 8; ++i)
        tunnel = ipv4(IPPROTO_IPIP, tunnel);
    check_hidden(ethernet(0x0800, tunnel));
    Bytes quotation = kInner4;
    for (int i = 0; i < 30; ++i)
        quotation = ipv4(IPPROTO_ICMP, icmp(3, quotation));
    check_hidden(ethernet(0x0800, quotation));
    CHECK(treat("IP,SRC_IP,ZERO", ethernet(0x0800, quotation)).counts.lost_packets == 1);
}

TEST_CASE("a fragment that may begin in the middle of an inner header shows nothing of it",
          "[mapi-core][anonymize]")
{
    const Bytes rest(kInner4.begin() + 8, kInner4.end());
    const Bytes early = ethernet(0x0800, ipv4(IPPROTO_IPIP, rest, {}, 1));
    CHECK(treat("IP,SRC_IP,ZERO", early).counts.lost_packets == 1);
    CHECK_FALSE(
        contains(treat("IP,DST_IP,ZERO", early).bytes, Bytes(rest.begin() + 4, rest.begin() + 12)));
    const Bytes quoted =
        ethernet(0x86dd, ipv6(IPPROTO_FRAGMENT, hex("3a 00 0010 0a0b0c0d") + rest));
    CHECK(treat("IP,SRC_IP,ZERO", quoted).counts.lost_packets == 1);
    const Bytes late = ethernet(0x0800, ipv4(IPPROTO_IPIP, rest, {}, 100));
    CHECK(treat("IP,TTL,ZERO", late).counts.lost_packets == 0);
}

TEST_CASE("ANONYMIZEIP's rule hides both addresses by the same key as two rules do",
          "[mapi-core][anonymize]")
{
    const std::string key(32, 'k');
    const Bytes packet = ethernet(0x0800, ipv4(IPPROTO_GRE, hex("0000 86dd") + kInner6));
    const Bytes both = treat(mapi::anonymize::address_rule(key), packet).bytes;
    const Bytes one = treat("IP,SRC_IP,PREFIX_PRESERVING," + key, packet).bytes;
    CHECK(treat("IP,DST_IP,PREFIX_PRESERVING," + key, one).bytes == both);
    CHECK_FALSE(contains(both, kSource6));
    CHECK_FALSE(contains(both, kDestination4));
}
