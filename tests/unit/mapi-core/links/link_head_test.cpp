// SPDX-License-Identifier: MIT
// The table of link types, and the link types inside containers.
#include "links/link_head.hpp"

#include <memory>
#include <random>
#include <vector>

#include "links/link_type.hpp"
#include "support/catch.hpp"

using namespace mapi::links;

namespace
{
bool knows(uint16_t link_type, const std::vector<uint8_t> &bytes)
{
    mapi_packet packet{};
    packet.data = bytes.data();
    packet.caplen = packet.wire_len = uint32_t(bytes.size());
    packet.link_type = link_type;
    return is_known(packet);
}
} // namespace

TEST_CASE("old numbers of link types become those of capture files", "[mapi-core][links]")
{
    CHECK(from_recorded(12) == kRaw);
    CHECK(from_recorded(14) == kRaw);
    CHECK(from_recorded(11) == kAtmLlc);
    for (const uint32_t number : {0u, 1u, 9u, 101u, 276u, 0x10000u})
        CHECK(from_recorded(number) == number);
}

TEST_CASE("a link type is either known or unknown", "[mapi-core][links]")
{
    CHECK(knows(kEthernet, {}));
    CHECK(knows(kWirelessRadiotap, {}));
    for (const int number : {2, 7, 130, 147, 189, 195, 253, 277, 0xfffe, 0xffff})
        CHECK_FALSE(knows(uint16_t(number), {}));
}

TEST_CASE("a container is known if its contents are", "[mapi-core][links]")
{
    CHECK(knows(kPpi, {0, 0, 8, 0, 105, 0, 0, 0}));
    CHECK(knows(kPpi, {0, 0, 8, 0, 12, 0, 0, 0}));
    CHECK_FALSE(knows(kPpi, {0, 0, 8, 0, 189, 0, 0, 0}));
    CHECK_FALSE(knows(kPpi, {0, 0, 8, 0, 192, 0, 0, 0}));   // itself
    CHECK_FALSE(knows(kPpi, {0, 0, 8, 0, 105, 0, 1, 0}));   // an unknown number
    CHECK_FALSE(knows(kPpi, {0, 0, 7, 0, 105, 0, 0, 0}));   // shorter than itself
    CHECK_FALSE(knows(kPpi, {0, 0, 200, 0, 105, 0, 0, 0})); // longer than the packet
    CHECK(knows(kPktap, {12, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}));
    CHECK_FALSE(knows(kPktap, {12, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0})); // no packet
    std::vector<uint8_t> erf(16);
    erf[8] = 2;
    CHECK_FALSE(knows(kErf, erf)); // without the bytes before the frame
    erf.resize(18);
    CHECK(knows(kErf, erf));
    erf[8] = 3; // a cell
    CHECK_FALSE(knows(kErf, erf));
    erf[8] = 0x82; // with an extension header that is missing
    CHECK_FALSE(knows(kErf, erf));
}

TEST_CASE("the contents of a container begin within the packet whatever its bytes are",
          "[mapi-core][links]")
{
    std::mt19937 random(11);
    for (const Start start : {Start::kPpi, Start::kPktap, Start::kErf}) {
        for (int round = 0; round < 20000; ++round) {
            const uint32_t caplen = uint32_t(random() % 64);
            const auto packet = std::make_unique<uint8_t[]>(caplen);
            for (uint32_t i = 0; i < caplen; ++i)
                packet[i] = uint8_t(random() % 3 ? random() % 32 : random());
            InnerLink inner{};
            if (inner_link(start, packet.get(), caplen, inner))
                REQUIRE(inner.offset <= caplen);
        }
    }
}
