// SPDX-License-Identifier: MIT
// PKTSELECT: the same packets at two observation points, by bytes that no router changes.
#include <string_view>

#include "functions/common/bob_hash.hpp"
#include "functions/common/invariant_bytes.hpp"
#include "mapi-core/functions/one_packet.hpp"
#include "support/catch.hpp"

namespace
{
using namespace frame_bytes;
using mapi::functions::bob_hash;

constexpr int64_t kAll = int64_t(1) << 32;

// What the functions of the point see; empty: not recognised.
Bytes invariant(const Bytes &frame, uint32_t payload_bytes = 64, uint32_t caplen = UINT32_MAX)
{
    mapi_packet packet{};
    packet.data = frame.data();
    packet.caplen = std::min(caplen, uint32_t(frame.size()));
    packet.wire_len = uint32_t(frame.size());
    packet.link_type = 1;
    const auto headers = mapi::headers::parse(packet);
    if (!headers.innermost())
        return {};
    const auto found =
        mapi::functions::invariant_bytes_of(packet, *headers.innermost(), payload_bytes);
    return found ? Bytes(found->bytes().begin(), found->bytes().end()) : Bytes{};
}

Bytes with(Bytes frame, size_t at, std::initializer_list<uint8_t> bytes)
{
    std::copy(bytes.begin(), bytes.end(), frame.begin() + ptrdiff_t(at));
    return frame;
}

constexpr size_t kIp = 14, kTransport = kIp + 20;
const Bytes kPayload = text("some payload");
const Bytes kUdp = ethernet(0x0800, hex("45000028 1234 4000 40 11 aaaa 0a000001 0a000002 "
                                        "0035 d431 0014 bbbb") +
                                        kPayload);
const Bytes kTcp = ethernet(0x0800, hex("4500003c 0001 4000 40 06 aaaa 0a000001 0a000002 "
                                        "0050 d431 00000001 00000002 8018 0040 cccc 0000 "
                                        "0101 080a 00000007 00000008") +
                                        text("eight by"));
const Bytes kSix = ethernet(0x86dd, hex("60012345 0014 11 40 20010db8000000000000000000000001 "
                                        "20010db8000000000000000000000002 0035 d431 0014 bbbb") +
                                        kPayload);
} // namespace

// Computed by Digest::JHash, another implementation.
TEST_CASE("the BOB hash is that of other implementations", "[mapi-core][functions]")
{
    const auto hash = [](std::string_view bytes) { return bob_hash(text(bytes), 0); };
    CHECK(hash("a") == 0x29eec818);
    CHECK(hash("hello") == 0xb706399e);
    CHECK(hash("hello world") == 0x1aa919e6);
    CHECK(hash("exactly 12by") == 0xf090e80a);
    CHECK(hash("a text of more than twelve bytes") == 0xc79feb33);
    CHECK(bob_hash(text("hello"), 1) != hash("hello"));
}

TEST_CASE("what routers change is not covered", "[mapi-core][functions]")
{
    const Bytes udp = invariant(kUdp), tcp = invariant(kTcp), six = invariant(kSix);
    REQUIRE(!udp.empty());
    REQUIRE(!tcp.empty());
    REQUIRE(!six.empty());
    CHECK(invariant(with(kUdp, 0, {9, 9, 9, 9, 9, 9})) == udp); // next router's link address
    CHECK(invariant(with(kUdp, kIp + 1, {0xb8})) == udp);       // TOS
    CHECK(invariant(with(kUdp, kIp + 6, {0})) == udp);          // don't fragment
    CHECK(invariant(with(kUdp, kIp + 8, {63})) == udp);         // TTL
    CHECK(invariant(with(kUdp, kIp + 10, {1, 2})) == udp);      // checksum of IP
    CHECK(invariant(with(kUdp, kTransport + 6, {1, 2})) == udp);
    CHECK(invariant(with(kTcp, kTransport + 16, {1, 2})) == tcp);
    CHECK(invariant(with(kSix, kIp, {0x6b, 0x89})) == six); // traffic class, flow label
    CHECK(invariant(with(kSix, kIp + 7, {63})) == six);     // hop limit
}

TEST_CASE("a VLAN tag and a tunnel do not change what is covered", "[mapi-core][functions]")
{
    const Bytes ip(kUdp.begin() + kIp, kUdp.end());
    CHECK(invariant(ethernet(0x8100, hex("0007 0800") + ip)) == invariant(kUdp));
    const Bytes outer = hex("4500003c 9999 0000 40 04 aaaa 0b000001 0b000002");
    CHECK(invariant(ethernet(0x0800, outer + ip)) == invariant(kUdp));
}

TEST_CASE("every other byte of the headers is covered", "[mapi-core][functions]")
{
    const Bytes udp = invariant(kUdp), tcp = invariant(kTcp);
    for (const size_t at : {kIp + 4, kIp + 12, kIp + 19, kTransport, kTransport + 3})
        CHECK(invariant(with(kUdp, at, {0xee})) != udp);
    for (const size_t at :
         {kTransport + 7, kTransport + 11, kTransport + 13, kTransport + 19, kTransport + 27})
        CHECK(invariant(with(kTcp, at, {0xee})) != tcp);
}

TEST_CASE("payload is covered up to the given number of bytes", "[mapi-core][functions]")
{
    constexpr size_t kFifth = kTransport + 8 + 4;
    const Bytes other = with(kUdp, kFifth, {'X'});
    CHECK(invariant(other, 64) != invariant(kUdp, 64));
    CHECK(invariant(other, 5) != invariant(kUdp, 5));
    CHECK(invariant(other, 4) == invariant(kUdp, 4));
    CHECK(invariant(other, 0) == invariant(kUdp, 0));
}

TEST_CASE("the segment size of a SYN may be reduced on the way", "[mapi-core][functions]")
{
    const Bytes syn = ethernet(0x0800, hex("4500002c 0001 4000 40 06 aaaa 0a000001 0a000002 "
                                           "0050 d431 00000001 00000000 6002 0040 cccc 0000 "
                                           "0204 05b4"));
    CHECK(invariant(with(syn, kTransport + 22, {0x05, 0x00})) == invariant(syn));
    CHECK(invariant(with(syn, kTransport + 7, {9})) != invariant(syn));
}

TEST_CASE("a packet is recognised only if the covered bytes were captured",
          "[mapi-core][functions]")
{
    constexpr uint32_t kToPayload = kTransport + 8;
    CHECK(invariant(kUdp, 4, kToPayload + 4) == invariant(kUdp, 4));
    CHECK(invariant(kUdp, 4, kToPayload + 3).empty());
    CHECK(invariant(kUdp, 64, kToPayload + 11).empty());
}

TEST_CASE("PKTSELECT passes a packet whose hash is below the limit", "[mapi-core][functions]")
{
    using test_support::OnePacket;
    const uint32_t hash = bob_hash(invariant(kUdp), 7);
    CHECK(OnePacket(mapi_fn_pktselect, {int64_t(hash) + 1, 7, 64, 0}, kUdp).passes());
    CHECK_FALSE(OnePacket(mapi_fn_pktselect, {hash, 7, 64, 0}, kUdp).passes());
    CHECK_FALSE(
        OnePacket(mapi_fn_pktselect, {kAll, 7, 64, 0}, ethernet(0x0806, hex("0001"))).passes());
}
