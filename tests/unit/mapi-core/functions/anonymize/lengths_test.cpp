// SPDX-License-Identifier: MIT
// Lengths and checksums after a field became longer or shorter.
#include <netinet/in.h>

#include "packets.hpp"
#include "support/catch.hpp"

using namespace anonymize_test;

namespace
{
unsigned half_of(const Bytes &bytes, size_t offset)
{
    return unsigned(bytes[offset]) << 8 | bytes[offset + 1];
}

// A sum over bytes that include their own checksum is all ones (RFC 1071).
uint32_t sum(const Bytes &bytes)
{
    uint32_t total = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
        total += i % 2 ? bytes[i] : uint32_t(bytes[i]) << 8;
    while (total >> 16)
        total = (total & 0xffff) + (total >> 16);
    return total;
}

Bytes part(const Bytes &bytes, size_t first, size_t end)
{
    return {bytes.begin() + long(first), bytes.begin() + long(end)};
}

Bytes adjusted(const Bytes &packet, const char *protocol = "IP")
{
    return treat(std::string(protocol) + ",CHECKSUM,CHECKSUM_ADJUST", packet).bytes;
}

// Of an IPv4 packet without options after the Ethernet header.
bool is_transport_right(const Bytes &packet)
{
    const Bytes datagram = part(packet, 34, packet.size());
    return sum(part(packet, 26, 34) + Bytes{0, packet[23]} + half(datagram.size()) + datagram) ==
           0xffff;
}

constexpr size_t kIp = 14;
} // namespace

TEST_CASE("a packet that shrinks or grows has consistent length fields", "[mapi-core][anonymize]")
{
    const Bytes four = ethernet(0x0800, ipv4(IPPROTO_UDP, udp(text("12345678"))));
    const Treated shorter = treat("UDP,PAYLOAD,STRIP,3", four);
    CHECK(shorter.bytes.size() == four.size() - 5);
    CHECK(shorter.wire_len == four.size() - 5);
    CHECK(half_of(shorter.bytes, kIp + 2) == 20 + 8 + 3);
    CHECK(half_of(shorter.bytes, kIp + 20 + 4) == 8 + 3);
    const Treated longer = treat("UDP,PAYLOAD,REPLACE,0123456789",
                                 ethernet(0x86dd, ipv6(IPPROTO_UDP, udp(text("1")))));
    CHECK(half_of(longer.bytes, kIp + 4) == 8 + 10);
    CHECK(half_of(longer.bytes, kIp + 40 + 4) == 8 + 10);
    const Treated inner =
        treat("UDP,PAYLOAD,STRIP",
              ethernet(0x0800, ipv4(IPPROTO_IPIP, ipv4(IPPROTO_UDP, udp(text("12345678"))))));
    CHECK(half_of(inner.bytes, kIp + 2) == 48);
    CHECK(half_of(inner.bytes, kIp + 20 + 2) == 28);
}

TEST_CASE("padding after a packet stays after it", "[mapi-core][anonymize]")
{
    const Bytes packet = ethernet(0x0800, ipv4(IPPROTO_UDP, udp(text("abc")))) + Bytes(15, 0x99);
    const Treated treated = treat("UDP,PAYLOAD,REPLACE,x", packet);
    CHECK(part(treated.bytes, treated.bytes.size() - 16, treated.bytes.size()) ==
          text("x") + Bytes(15, 0x99));
}

TEST_CASE("stripped options leave a header with the right length", "[mapi-core][anonymize]")
{
    const Bytes packet =
        ethernet(0x0800, ipv4(IPPROTO_TCP, tcp(text("x"), 1, 2, hex("02040102 01010101")),
                              hex("94040000 01010101")));
    const Bytes ip = treat("IP,OPTIONS,STRIP", packet).bytes;
    CHECK(ip[kIp] == 0x45);
    CHECK(half_of(ip, kIp + 2) == 20 + 28 + 1);
    const Bytes kept = treat("IP,OPTIONS,STRIP,7", packet).bytes; // whole words
    CHECK(kept[kIp] == 0x46);
    CHECK(part(kept, kIp + 20, kIp + 24) == hex("94040000"));
    const Bytes tcp_only = treat("TCP,TCP_OPTIONS,STRIP", packet).bytes;
    CHECK(tcp_only[kIp + 28 + 12] == 0x50);
    CHECK(tcp_only.back() == 'x');
    CHECK(half_of(tcp_only, kIp + 2) == 28 + 20 + 1);
}

TEST_CASE("a truncated packet lacks as many bytes as before", "[mapi-core][anonymize]")
{
    const Bytes whole = ethernet(0x0800, ipv4(IPPROTO_UDP, udp(Bytes(100, 'a'))));
    Packet cut(part(whole, 0, 60));
    cut.packet.wire_len = uint32_t(whole.size());
    mapi::anonymize::Tables tables(1);
    mapi::anonymize::Anonymizer anonymizer(mapi::anonymize::parse_rule("UDP,PAYLOAD,STRIP,8"),
                                           tables);
    anonymizer.apply(cut.packet);
    CHECK(cut.packet.caplen == 14 + 28 + 8);
    CHECK(cut.packet.wire_len - cut.packet.caplen == whole.size() - 60);
    CHECK(half_of(cut.bytes(), kIp + 2) == 128 - (60 - 50));
}

TEST_CASE("a value that does not fit the buffer is truncated to the field, and counted",
          "[mapi-core][anonymize]")
{
    const Bytes packet = ethernet(0x0800, ipv4(IPPROTO_UDP, udp(text("abcd"))));
    const Treated tight = treat("UDP,PAYLOAD,REPLACE,123456", packet, 1);
    CHECK(part(tight.bytes, 42, 46) == text("1234"));
    CHECK(tight.bytes.size() == packet.size());
    CHECK(tight.counts.no_room == 1);
    CHECK(treat("UDP,PAYLOAD,REPLACE,123456", packet, 2).counts.no_room == 0);
    Bytes huge = packet;
    huge[kIp + 2] = huge[kIp + 3] = 0xff; // the length could not grow
    CHECK(treat("UDP,PAYLOAD,REPLACE,123456", huge).counts.no_room == 1);
}

TEST_CASE("checksums stay unchanged until a rule asks for correct ones", "[mapi-core][anonymize]")
{
    const Bytes packet = adjusted(ethernet(0x0800, ipv4(IPPROTO_UDP, udp(text("abc")))));
    const Bytes anonymous = treat("IP,SRC_IP,ZERO", packet).bytes;
    CHECK(anonymous == with_zeros(packet, kIp + 12, 4));
    CHECK_FALSE(is_transport_right(anonymous));
    CHECK(is_transport_right(adjusted(anonymous)));
    CHECK(sum(part(adjusted(anonymous), 14, 34)) == 0xffff);
}

TEST_CASE("checksums of TCP, UDP, ICMP and ICMPv6 are correct after adjustment",
          "[mapi-core][anonymize]")
{
    const Bytes tcp4 = ethernet(0x0800, ipv4(IPPROTO_TCP, tcp(text("odd"))));
    CHECK(is_transport_right(adjusted(tcp4)));
    CHECK(is_transport_right(adjusted(tcp4, "TCP")));
    CHECK(part(adjusted(tcp4, "TCP"), 24, 26) == hex("bbbb")); // IP's checksum is not part of TCP
    CHECK(adjusted(tcp4, "UDP") == tcp4);
    CHECK(is_transport_right(
        adjusted(ethernet(0x0800, ipv4(IPPROTO_UDP, udp(text("even")))), "UDP")));
    const Bytes ping =
        adjusted(ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(8, text("ping")))), "ICMP");
    CHECK(sum(part(ping, 34, ping.size())) == 0xffff);
    const Bytes ping6 =
        adjusted(ethernet(0x86dd, ipv6(IPPROTO_ICMPV6, icmp(128, text("ping")))), "ICMP");
    CHECK(sum(part(ping6, 22, 54) + half(12) + Bytes{0, IPPROTO_ICMPV6} +
              part(ping6, 54, ping6.size())) == 0xffff);
}

TEST_CASE("the checksum of an ICMP error is correct after that of the quoted packet is adjusted",
          "[mapi-core][anonymize]")
{
    const Bytes quoted = ipv4(IPPROTO_UDP, udp(text("whole")));
    const Bytes packet = adjusted(ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(3, quoted))));
    CHECK(sum(part(packet, 34, packet.size())) == 0xffff);
    CHECK(sum(part(packet, 42, 62)) == 0xffff);
    CHECK(part(packet, 62 + 6, 62 + 8) != hex("dddd"));
}

TEST_CASE("an absent UDP checksum stays absent, and one that is zero is sent as all ones",
          "[mapi-core][anonymize]")
{
    Bytes none = ethernet(0x0800, ipv4(IPPROTO_UDP, udp(text("abc"))));
    none[kIp + 26] = none[kIp + 27] = 0;
    CHECK(half_of(adjusted(none), kIp + 26) == 0);
    Bytes zero = ethernet(0x0800, ipv4(IPPROTO_UDP, udp(half(0))));
    const unsigned checksum = half_of(adjusted(zero), kIp + 26);
    zero[kIp + 28] = uint8_t(checksum >> 8); // now the sum is zero
    zero[kIp + 29] = uint8_t(checksum);
    CHECK(half_of(adjusted(zero), kIp + 26) == 0xffff);
}

TEST_CASE("a checksum over missing bytes becomes zero and is counted", "[mapi-core][anonymize]")
{
    const Bytes whole = ethernet(0x0800, ipv4(IPPROTO_TCP, tcp(Bytes(100, 'a'))));
    const Treated cut = treat("TCP,CHECKSUM,CHECKSUM_ADJUST", part(whole, 0, 80));
    CHECK(half_of(cut.bytes, kIp + 20 + 16) == 0);
    CHECK(cut.counts.unknown_checksums == 1);
    const Treated fragment =
        treat("IP,CHECKSUM,CHECKSUM_ADJUST",
              ethernet(0x0800, ipv4(IPPROTO_UDP, udp(text("abc")), {}, 0x2000)));
    CHECK(half_of(fragment.bytes, kIp + 26) == 0);
    CHECK(sum(part(fragment.bytes, 14, 34)) == 0xffff);
    Bytes lying = ethernet(0x0800, ipv4(IPPROTO_UDP, udp(text("abc"))));
    lying[kIp + 24] = 1;
    CHECK(treat("UDP,CHECKSUM,CHECKSUM_ADJUST", lying).counts.unknown_checksums == 1);
    const Treated half_cut = treat("TCP,CHECKSUM,CHECKSUM_ADJUST", part(whole, 0, kIp + 20 + 17));
    CHECK(half_cut.bytes.back() == 0);
    CHECK(treat("UDP,CHECKSUM,CHECKSUM_ADJUST", whole).counts.packets_without == 1);
}
