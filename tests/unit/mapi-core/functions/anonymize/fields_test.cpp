// SPDX-License-Identifier: MIT
// Fields of headers: each is changed in its place, in every layer, and no other byte changes.
#include <netinet/in.h>

#include "packets.hpp"
#include "support/catch.hpp"

using namespace anonymize_test;

namespace
{
constexpr size_t kIp = 14; // after the Ethernet header

// Where the bytes of a field are in the packet.
struct Expected {
    const char *field;
    size_t offset;
    size_t bytes;
};

void check_zeroed(const char *protocol, const std::vector<Expected> &expected, const Bytes &packet)
{
    for (const Expected &field : expected) {
        INFO(protocol << "," << field.field);
        const Treated treated = treat(std::string(protocol) + "," + field.field + ",ZERO", packet);
        CHECK(treated.bytes == with_zeros(packet, field.offset, field.bytes));
        CHECK(treated.bytes != packet);
        CHECK(treated.counts.fields == 1);
    }
}

const Bytes kTcp4 =
    ethernet(0x0800, ipv4(IPPROTO_TCP, tcp(text("hello"), 1025, 80, hex("020405b4")),
                          hex("94040000"), 0x4000));
constexpr size_t kTcpHeader = kIp + 24;
} // namespace

TEST_CASE("each field of an IPv4 header is changed and nothing else", "[mapi-core][anonymize]")
{
    check_zeroed("IP",
                 {{"TOS", kIp + 1, 1},
                  {"PACKET_LENGTH", kIp + 2, 2},
                  {"ID", kIp + 4, 2},
                  {"FRAGMENT_OFFSET", kIp + 6, 2},
                  {"TTL", kIp + 8, 1},
                  {"IP_PROTO", kIp + 9, 1},
                  {"CHECKSUM", kIp + 10, 2},
                  {"SRC_IP", kIp + 12, 4},
                  {"DST_IP", kIp + 16, 4},
                  {"OPTIONS", kIp + 20, 4},
                  {"PAYLOAD", kIp + 24, 29}},
                 kTcp4);
}

TEST_CASE("each field of an IPv6 header is changed and nothing else", "[mapi-core][anonymize]")
{
    const Bytes fragment =
        ethernet(0x86dd, ipv6(IPPROTO_FRAGMENT, hex("11 00 0001 0a0b0c0d") + udp(text("hi"))));
    check_zeroed("IP",
                 {{"PACKET_LENGTH", kIp + 4, 2},
                  {"IP_PROTO", kIp + 6, 1},
                  {"TTL", kIp + 7, 1},
                  {"SRC_IP", kIp + 8, 16},
                  {"DST_IP", kIp + 24, 16},
                  {"FRAGMENT_OFFSET", kIp + 42, 2},
                  {"ID", kIp + 44, 4},
                  {"PAYLOAD", kIp + 48, 10}},
                 fragment);
    for (const char *field : {"CHECKSUM", "OPTIONS"})
        CHECK(treat(std::string("IP,") + field + ",ZERO", fragment).counts.packets_without == 1);
}

TEST_CASE("traffic class and flow label of IPv6 change bit by bit", "[mapi-core][anonymize]")
{
    const Bytes packet = ethernet(0x86dd, ipv6(IPPROTO_UDP, udp({})));
    const auto first_word = [](const Treated &treated) {
        return Bytes(treated.bytes.begin() + kIp, treated.bytes.begin() + kIp + 4);
    };
    CHECK(first_word(treat("IP,TOS,ZERO", packet)) == hex("60012345"));
    CHECK(first_word(treat("IP,TOS,PATTERN_FILL,INTEGER,255", packet)) == hex("6ff12345"));
    CHECK(first_word(treat("IP,FLOW,ZERO", packet)) == hex("65a00000"));
    CHECK(first_word(treat("IP,FLOW,PATTERN_FILL,INTEGER,255", packet)) == hex("65afffff"));
    CHECK(first_word(treat("IP,FLOW,MAP", packet)) == hex("65a00001"));
    CHECK(first_word(treat("IP,FLOW,HASHED,CRC32,STRIP_REST", packet)) != hex("65a12345"));
    CHECK(treat("IP,FLOW,ZERO", kTcp4).counts.packets_without == 1);
}

TEST_CASE("each field of a TCP header is changed and nothing else", "[mapi-core][anonymize]")
{
    check_zeroed("TCP",
                 {{"SRC_PORT", kTcpHeader, 2},
                  {"DST_PORT", kTcpHeader + 2, 2},
                  {"SEQUENCE_NUMBER", kTcpHeader + 4, 4},
                  {"ACK_NUMBER", kTcpHeader + 8, 4},
                  {"OFFSET_AND_RESERVED", kTcpHeader + 12, 1},
                  {"FLAGS", kTcpHeader + 13, 1},
                  {"WINDOW", kTcpHeader + 14, 2},
                  {"CHECKSUM", kTcpHeader + 16, 2},
                  {"URGENT_POINTER", kTcpHeader + 18, 2},
                  {"TCP_OPTIONS", kTcpHeader + 20, 4},
                  {"PAYLOAD", kTcpHeader + 24, 5},
                  {"SRC_IP", kIp + 12, 4},
                  {"TTL", kIp + 8, 1}},
                 kTcp4);
}

TEST_CASE("each field of UDP and ICMP headers is changed and nothing else",
          "[mapi-core][anonymize]")
{
    const size_t header = kIp + 20;
    check_zeroed("UDP",
                 {{"SRC_PORT", header, 2},
                  {"DST_PORT", header + 2, 2},
                  {"UDP_DATAGRAM_LENGTH", header + 4, 2},
                  {"CHECKSUM", header + 6, 2},
                  {"PAYLOAD", header + 8, 3},
                  {"DST_IP", kIp + 16, 4}},
                 ethernet(0x0800, ipv4(IPPROTO_UDP, udp(text("abc")))));
    const std::vector<Expected> icmp_fields = {{"TYPE", header, 1},
                                               {"CODE", header + 1, 1},
                                               {"CHECKSUM", header + 2, 2},
                                               {"PAYLOAD", header + 8, 4}};
    check_zeroed("ICMP", icmp_fields, ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(8, text("ping")))));
    std::vector<Expected> behind_ipv6 = icmp_fields;
    for (Expected &field : behind_ipv6)
        field.offset += 20;
    check_zeroed("ICMP", behind_ipv6,
                 ethernet(0x86dd, ipv6(IPPROTO_ICMPV6, icmp(128, text("ping")))));
}

TEST_CASE("a rule of one protocol leaves packets of others as is, and counts them",
          "[mapi-core][anonymize]")
{
    const Bytes packet =
        ethernet(0x0800, ipv4(IPPROTO_UDP, udp(text("GET / HTTP/1.1\r\n\r\n"), 1025, 80)));
    for (const char *rule : {"TCP,SRC_IP,ZERO", "TCP,PAYLOAD,ZERO", "ICMP,TTL,ZERO",
                             "HTTP,URI,ZERO", "FTP,DST_PORT,ZERO"}) {
        INFO(rule);
        const Treated treated = treat(rule, packet);
        CHECK(treated.bytes == packet);
        CHECK(treated.counts.packets_without == 1);
    }
    CHECK(treat("UDP,SRC_IP,UNCHANGED", packet).bytes == packet);
    CHECK(treat("UDP,SRC_IP,UNCHANGED", packet).counts.packets == 1);
}

TEST_CASE("bytes of a later fragment are payload of the protocol that its datagram carries",
          "[mapi-core][anonymize]")
{
    const Bytes packet = ethernet(0x0800, ipv4(IPPROTO_TCP, text("the middle"), {}, 0x2040));
    CHECK(treat("TCP,PAYLOAD,ZERO", packet).bytes == with_zeros(packet, kIp + 20, 10));
    CHECK(treat("TCP,SRC_PORT,ZERO", packet).bytes == packet);
}

TEST_CASE("addresses in ARP are source and destination", "[mapi-core][anonymize]")
{
    const Bytes arp =
        ethernet(0x0806, hex("0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002"));
    CHECK(treat("IP,SRC_IP,ZERO", arp).bytes == with_zeros(arp, 14 + 14, 4));
    CHECK(treat("IP,DST_IP,ZERO", arp).bytes == with_zeros(arp, 14 + 24, 4));
    CHECK(treat("TCP,DST_IP,ZERO", arp).bytes == arp);
    const Bytes tagged = ethernet(0x8100, hex("0005 0806") + Bytes(arp.begin() + 14, arp.end()));
    CHECK(treat("IP,SRC_IP,ZERO", tagged).bytes == with_zeros(tagged, 18 + 14, 4));
    const Bytes cut(arp.begin(), arp.begin() + 14 + 26);
    const Treated treated = treat("IP,DST_IP,ZERO", cut);
    CHECK(treated.bytes == with_zeros(cut, 14 + 24, 2));
    CHECK(treated.counts.cut_fields == 1);
    const Bytes appletalk =
        ethernet(0x0806, hex("0001 809b 06 04 0001 020000000001 0a000001 000000000000 0a000002"));
    CHECK(treat("IP,SRC_IP,ZERO", appletalk).bytes == appletalk);
}
