// SPDX-License-Identifier: MIT
#include "support/catch.hpp"

#include <arpa/inet.h>

#include <cstring>
#include <vector>

#include <mapi/mapi.h>

#include "mapi-core/capture_builder.hpp"

using test_support::udp_frame;

namespace
{
constexpr int kEthernet = 1;

// A packet as TO_BUFFER has it.
struct Packet {
    explicit Packet(const std::vector<uint8_t> &frame) : bytes(sizeof(mapipkt) + frame.size())
    {
        mapipkt head = {};
        head.caplen = head.wlen = uint32_t(frame.size());
        std::memcpy(bytes.data(), &head, sizeof(head));
        std::memcpy(bytes.data() + offsetof(mapipkt, pkt), frame.data(), frame.size());
    }
    const mapipkt *get() const { return reinterpret_cast<const mapipkt *>(bytes.data()); }

    std::vector<uint8_t> bytes;
};

mapi_packet_ends_t ends_of(const std::vector<uint8_t> &frame, int link_type = kEthernet)
{
    mapi_packet_ends_t ends;
    std::memset(&ends, 0xff, sizeof(ends));
    CHECK(mapi_get_packet_ends(Packet(frame).get(), link_type, &ends) == 0);
    return ends;
}

std::vector<uint8_t> frame_of(uint16_t ethertype, std::vector<uint8_t> rest)
{
    std::vector<uint8_t> frame(12, 2);
    frame.push_back(uint8_t(ethertype >> 8));
    frame.push_back(uint8_t(ethertype));
    frame.insert(frame.end(), rest.begin(), rest.end());
    return frame;
}
} // namespace

TEST_CASE("a packet's ends are the addresses and ports of its IP header", "[mapi-core][client]")
{
    const auto udp = udp_frame(2000, 53, "x");
    const mapi_packet_ends_t ends = ends_of({udp.begin(), udp.end()});
    CHECK(ends.family == AF_INET);
    CHECK(ends.protocol == IPPROTO_UDP);
    CHECK(ends.has_ports);
    CHECK(ends.source_port == 2000);
    CHECK(ends.destination_port == 53);
    CHECK_FALSE(ends.has_icmp);
    CHECK(std::memcmp(ends.source, udp.data() + 26, 4) == 0);
    CHECK(std::memcmp(ends.destination, udp.data() + 30, 4) == 0);
}

TEST_CASE("an ICMPv6 packet has addresses, type and code, and no ports", "[mapi-core][client]")
{
    std::vector<uint8_t> ip = {0x60, 0, 0, 0, 0, 8, IPPROTO_ICMPV6, 255};
    ip.insert(ip.end(), 16, 0xaa);
    ip.insert(ip.end(), 16, 0xbb);
    ip.insert(ip.end(), {135, 7, 0, 0, 0, 0, 0, 0});
    const mapi_packet_ends_t ends = ends_of(frame_of(0x86dd, ip));
    CHECK(ends.family == AF_INET6);
    CHECK(ends.protocol == IPPROTO_ICMPV6);
    CHECK_FALSE(ends.has_ports);
    CHECK(ends.has_icmp);
    CHECK(ends.icmp_type == 135);
    CHECK(ends.icmp_code == 7);
    CHECK((ends.source[15] == 0xaa && ends.destination[15] == 0xbb));
}

TEST_CASE("a packet without a readable IP header has no ends", "[mapi-core][client]")
{
    const auto udp = udp_frame(2000, 53, "x");
    const std::vector<uint8_t> frame(udp.begin(), udp.end());
    CHECK(ends_of(frame_of(0x0806, std::vector<uint8_t>(28))).family == 0);
    CHECK(ends_of(frame, -1).family == 0);
    CHECK(ends_of(frame, 70000).family == 0);
    CHECK(ends_of({frame.begin(), frame.begin() + 20}).family == 0);
    CHECK_FALSE(ends_of({frame.begin(), frame.begin() + 34}).has_ports);
}

TEST_CASE("the ends of no packet are an error", "[mapi-core][client]")
{
    mapi_packet_ends_t ends;
    CHECK(mapi_get_packet_ends(nullptr, kEthernet, &ends) == -1);
    CHECK(mapi_get_packet_ends(Packet({1}).get(), kEthernet, nullptr) == -1);
}
