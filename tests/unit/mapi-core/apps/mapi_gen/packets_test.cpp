// SPDX-License-Identifier: MIT
// packets: a frame, or a capture -> what is sent.
#include "support/catch.hpp"

#include <cstdio>

#include "packets.hpp"
#include "support/temp_dir.hpp"

using namespace mapi_gen;
using test_support::TempDir;

namespace
{
// A capture of little-endian pcap; each packet is of (captured, original) bytes.
std::string write_capture(const TempDir &folder, uint32_t link_type,
                          const std::vector<std::pair<uint32_t, uint32_t>> &packets)
{
    const std::string path = (folder.path() / "x.pcap").string();
    std::FILE *const file = std::fopen(path.c_str(), "wb");
    REQUIRE(file);
    const uint32_t head[] = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, link_type};
    std::fwrite(head, sizeof(head), 1, file);
    for (const auto &[captured, original] : packets) {
        const uint32_t record[] = {0, 0, captured, original};
        std::fwrite(record, sizeof(record), 1, file);
        const std::vector<uint8_t> bytes(captured, uint8_t(captured));
        std::fwrite(bytes.data(), 1, bytes.size(), file);
    }
    std::fclose(file);
    return path;
}
} // namespace

TEST_CASE("packets that cannot be sent are counted by reason", "[mapi_gen][packets]")
{
    const TempDir folder;
    const Packets packets = read_capture(
        write_capture(folder, 1, {{60, 60}, {13, 13}, {1515, 1515}, {1514, 1514}, {100, 900}}),
        1500);
    REQUIRE(packets.places.size() == 3);
    CHECK(packets.packet(1).size() == 1514);
    CHECK(packets.packet(2)[99] == 100);
    CHECK(packets.too_short == 1);
    CHECK(packets.too_long == 1);
    CHECK(packets.cut == 1);
    CHECK(packets.longest() == 1514);
    CHECK(packets.variants() == 3);
}

TEST_CASE("captures with nothing to send are refused", "[mapi_gen][packets]")
{
    const TempDir folder;
    CHECK_THROWS_AS(read_capture(write_capture(folder, 1, {{1400, 1400}}), 1000), Refusal);
    CHECK_THROWS_AS(read_capture(write_capture(folder, 113, {{60, 60}}), 1500), Refusal);
    CHECK_THROWS_AS(read_capture((folder.path() / "none").string(), 1500), Refusal);
}

TEST_CASE("a capture of more packets than memory is for is refused", "[mapi_gen][packets]")
{
    const TempDir folder;
    const std::string path = write_capture(folder, 1, {{1000, 1000}, {60, 60}});
    CHECK(read_capture(path, 1500, 1060).mean_wire_bytes() == (1004 + 64) / 2.0);
    CHECK_THROWS_AS(read_capture(path, 1500, 1059), Refusal);
}

TEST_CASE("a VLAN tag does not count for the MTU", "[mapi_gen][packets]")
{
    std::vector<uint8_t> frame(1518);
    CHECK_FALSE(fits(frame, 1500));
    frame[12] = 0x81;
    CHECK(fits(frame, 1500));
}

TEST_CASE("a frame longer than the MTU allows is refused", "[mapi_gen][packets]")
{
    FrameSetup setup;
    setup.wire_bytes = 519;
    CHECK_THROWS_AS(generate(setup, 500), Refusal);
    setup.wire_bytes = 518;
    CHECK(generate(setup, 500).mean_wire_bytes() == 518);
}
