// SPDX-License-Identifier: MIT
// Pseudo headers of the other byte order, whatever their lengths: nothing outside the packet is
// modified.
#include "links/host_order.hpp"

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "links/link_type.hpp"
#include "support/catch.hpp"

using namespace mapi::links;

TEST_CASE("link types without numbers in host byte order have nothing to convert",
          "[mapi-core][links]")
{
    for (const uint16_t link_type : {kEthernet, kRaw, kLoop, kPppHdlc, kPktap, kErf})
        CHECK(swap_of(link_type) == nullptr);
    CHECK(swap_of(0xffff) == nullptr);
}

TEST_CASE("a family is converted, and converted back", "[mapi-core][links]")
{
    std::vector<uint8_t> packet = {0, 0, 0, 2, 0x45};
    swap_of(kNull)(packet.data(), uint32_t(packet.size()));
    CHECK(packet == std::vector<uint8_t>{2, 0, 0, 0, 0x45});
    swap_of(kNull)(packet.data(), uint32_t(packet.size()));
    CHECK(packet == std::vector<uint8_t>{0, 0, 0, 2, 0x45});
}

TEST_CASE("a truncated number stays unchanged", "[mapi-core][links]")
{
    std::vector<uint8_t> packet = {0, 0, 2};
    swap_of(kNull)(packet.data(), uint32_t(packet.size()));
    CHECK(packet == std::vector<uint8_t>{0, 0, 2});
}

TEST_CASE("conversion stays inside the packet whatever its bytes are", "[mapi-core][links]")
{
    std::mt19937 random(7);
    for (const uint16_t link_type :
         {kNull, kEnc, kPflog, kLinuxSll, kLinuxSll2, kUsbLinux, kUsbLinuxMmapped, kNflog}) {
        for (int round = 0; round < 20000; ++round) {
            const uint32_t caplen = uint32_t(random() % 140);
            const auto packet = std::make_unique<uint8_t[]>(
                caplen); // exactly this length: the sanitizer detects an access beyond it
            std::vector<uint8_t> counts_before(256), counts_after(256);
            for (uint32_t i = 0; i < caplen; ++i)
                packet[i] = uint8_t(random() % 4 ? random() % 20 : random());
            for (uint32_t i = 0; i < caplen; ++i)
                ++counts_before[packet[i]];
            swap_of(link_type)(packet.get(), caplen);
            for (uint32_t i = 0; i < caplen; ++i)
                ++counts_after[packet[i]];
            REQUIRE(counts_before == counts_after); // bytes are only swapped
        }
    }
}
