// SPDX-License-Identifier: MIT
// packets: frames of one size, made from a capture's headers and payloads.
#include "support/catch.hpp"

#include "support/temp_dir.hpp"

#include <numeric>
#include <string_view>

#include "mapi_cost/source/mapi_handle.hpp"
#include "mapi_cost/source/packets.hpp"

using namespace mapi_cost;

namespace
{
constexpr int kEthernet = 1;

std::vector<uint8_t> udp_frame(size_t payload_bytes, bool has_vlan = false)
{
    std::vector<uint8_t> frame(12, 0x02);
    if (has_vlan)
        frame.insert(frame.end(), {0x81, 0x00, 0x00, 0x05});
    frame.insert(frame.end(), {0x08, 0x00, 0x45});
    frame.resize(frame.size() + 8);
    frame.insert(frame.end(), {17, 0, 0});
    frame.resize(frame.size() + 8 + 8);
    for (size_t i = 0; i < payload_bytes; ++i)
        frame.push_back(uint8_t('a' + i % 26));
    return frame;
}

Packet packet(std::vector<uint8_t> bytes)
{
    return {(2208988800ull + 1) << 32, uint32_t(bytes.size()), std::move(bytes)};
}
} // namespace

TEST_CASE("headers end where the payload begins", "[mapi_cost][packets]")
{
    CHECK(header_bytes(udp_frame(10), kEthernet) == 42);
    CHECK(header_bytes(udp_frame(10, true), kEthernet) == 46);
    CHECK(header_bytes({1, 2, 3}, kEthernet) == 3);
    CHECK(header_bytes({}, kEthernet) == 0);
}

TEST_CASE("generated frames have the size, the capture's headers and its payload bytes in order",
          "[mapi_cost][packets]")
{
    const std::vector<Packet> from = {packet(udp_frame(300)), packet(udp_frame(5))};
    const auto made = make_packets(from, kEthernet, 128, 10);

    REQUIRE(made.size() == 10);
    for (size_t i = 0; i < made.size(); ++i) {
        CHECK(made[i].bytes.size() == 128);
        CHECK(made[i].wire_bytes == 128);
        CHECK(std::equal(made[i].bytes.begin(), made[i].bytes.begin() + 42,
                         from[i % 2].bytes.begin()));
    }
    CHECK(std::string_view(reinterpret_cast<const char *>(&made[0].bytes[42]), 26) ==
          "abcdefghijklmnopqrstuvwxyz");
}

TEST_CASE("frames smaller than the headers are truncated headers", "[mapi_cost][packets]")
{
    const auto made = make_packets({packet(udp_frame(300))}, kEthernet, 20, 1);

    CHECK(made.at(0).bytes.size() == 20);
}

TEST_CASE("an absent string is in no packet, and each number has its own string",
          "[mapi_cost][packets]")
{
    const std::string taken = "xx/bin/perl.exe";
    const std::vector<Packet> packets = {packet({taken.begin(), taken.end()})};
    const std::string first = absent_string(packets, 0);

    CHECK(first != "/bin/perl.exe");
    CHECK(first != absent_string(packets, 1));
    CHECK(absent_string({}, 0) == "/bin/perl.exe");
}

TEST_CASE("a capture that was written is read back through libmapi", "[mapi_cost][packets]")
{
    const test_support::TempDir folder;
    const std::string path = folder / "made.pcap";
    const auto made = make_packets({packet(udp_frame(300))}, kEthernet, 256, 100);
    write_capture(path, made, kEthernet);

    const auto read = take_packets(path, "", {1000, 1 << 20});
    REQUIRE(read.size() == 100);
    CHECK(read[7].bytes == made[7].bytes);
    CHECK(read[7].ntp_time == made[7].ntp_time);
    CHECK(take_packets(path, "", {10, 1 << 20}).size() == 10);
    CHECK(take_packets(path, "tcp", {1000, 1 << 20}).empty());
    CHECK_THROWS_AS(take_packets(path, "no such filter", {10, 10}), MapiError);
}

TEST_CASE("the length that a search reads is the end of the text, the whole packet, or unknown",
          "[mapi_cost][packets]")
{
    const auto packet = [](const std::string &text) {
        return Packet{0, 0, {text.begin(), text.end()}};
    };
    const std::vector<Packet> packets = {packet("a www b www"), packet("nothing here to find!")};

    CHECK(searched_bytes(packets, "www") == (5 + 21) / 2.0);
    CHECK_FALSE(searched_bytes(packets, "|77 77|"));
    CHECK_FALSE(searched_bytes({}, "www"));
}
