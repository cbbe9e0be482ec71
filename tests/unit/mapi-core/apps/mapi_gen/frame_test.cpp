// SPDX-License-Identifier: MIT
// frame: sizes and addresses -> an Ethernet frame whose checksums are right.
#include "support/catch.hpp"

#include "frame.hpp"

using namespace mapi_gen;

namespace
{
// RFC 1071, from scratch: a right checksum makes the sum 0xffff.
uint32_t sum(std::span<const uint8_t> bytes, uint64_t total = 0)
{
    for (size_t i = 0; i < bytes.size(); ++i)
        total += uint64_t(bytes[i]) << (i % 2 == 0 ? 8 : 0);
    while (total > 0xffff)
        total = (total & 0xffff) + (total >> 16);
    return uint32_t(total);
}

void check_sums(std::span<const uint8_t> frame)
{
    CHECK(sum(frame.subspan(kEthernetBytes, kIpBytes)) == 0xffff);
    const auto udp = frame.subspan(kEthernetBytes + kIpBytes);
    const uint32_t pseudo = sum(frame.subspan(kEthernetBytes + 12, 8), 17 + uint64_t(udp.size()));
    CHECK(sum(udp, pseudo) == 0xffff);
    CHECK((udp[6] | udp[7]) != 0); // 0: no checksum
}

uint32_t word(std::span<const uint8_t> bytes, size_t at)
{
    return uint32_t(bytes[at]) << 8 | bytes[at + 1];
}
} // namespace

TEST_CASE("a frame of each size has its lengths and right checksums", "[mapi_gen][frame]")
{
    FrameSetup setup;
    for (const Payload payload : {Payload::kZero, Payload::kRandom, Payload::kText})
        for (setup.wire_bytes = kLeastWireBytes; setup.wire_bytes <= kMostWireBytes;
             setup.wire_bytes += 1 + setup.wire_bytes / 8) {
            setup.payload = payload;
            const auto frame = build_frame(setup);
            REQUIRE(frame.size() == setup.wire_bytes - 4);
            CHECK(word(frame, 16) == frame.size() - 14);
            CHECK(word(frame, 38) == frame.size() - 34);
            check_sums(frame);
        }
}

TEST_CASE("each source port has a right checksum", "[mapi_gen][frame]")
{
    FrameSetup setup;
    setup.payload = Payload::kText;
    setup.wire_bytes = 101;
    auto frame = build_frame(setup);
    const uint32_t base = sum_without_port(frame);
    for (uint32_t port = kFirstSourcePort; port <= 65535; ++port) {
        set_source_port(frame, base, uint16_t(port));
        const auto udp = std::span<const uint8_t>(frame).subspan(34);
        const uint32_t pseudo =
            sum(std::span<const uint8_t>(frame).subspan(26, 8), 17 + uint64_t(udp.size()));
        if (word(frame, 34) != port || sum(udp, pseudo) != 0xffff || word(udp, 6) == 0)
            FAIL("port " << port);
    }
    CHECK(sum_without_port(frame) == base); // whatever the port is
}

TEST_CASE("addresses are those of the setup", "[mapi_gen][frame]")
{
    FrameSetup setup;
    setup.from_mac = {2, 0, 0, 0, 0, 7};
    setup.from_address = 0x0a000001;
    const auto frame = build_frame(setup);
    CHECK(std::equal(setup.to_mac.begin(), setup.to_mac.end(), frame.begin()));
    CHECK(std::equal(setup.from_mac.begin(), setup.from_mac.end(), frame.begin() + 6));
    CHECK(word(frame, 26) == 0x0a00);
    CHECK(word(frame, 30) == 0xc613);
    CHECK((setup.to_mac[0] & 3) == 2); // locally administered, not a group
}

TEST_CASE("random payload repeats", "[mapi_gen][frame]")
{
    FrameSetup setup;
    setup.payload = Payload::kRandom;
    setup.wire_bytes = 1000;
    CHECK(build_frame(setup) == build_frame(setup));
}
