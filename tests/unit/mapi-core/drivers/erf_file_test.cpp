// SPDX-License-Identifier: MIT
// erf_file: records of every kind -> the original packets, or a message with position and reason.
#include "support/catch.hpp"

#include <random>

#include <mapi/errors.h>

#include "drivers/catalog.hpp"
#include "mapi-core/capture_builder.hpp"
#include "mapi-core/drivers/erf_builder.hpp"
#include "mapi-core/drivers/read_capture.hpp"
#include "support/temp_dir.hpp"

using test_support::CaptureBuilder;
using test_support::Erf;
using test_support::Outcome;
using test_support::Packet;
using test_support::read_capture;
using test_support::TempDir;

namespace
{
constexpr uint64_t kSeconds = 1500000000;
constexpr uint64_t kNs = kSeconds * 1000000000;

Outcome read_erf(const std::string &bytes, uint32_t limit = 64, uint64_t repeat = 1)
{
    const TempDir dir;
    return read_capture(mapi_driver_erf_file, CaptureBuilder().text(bytes).write(dir / "x.erf"),
                        limit, repeat);
}

std::string ethernet(const std::string &frame)
{
    return Erf{.frame = frame}.bytes();
}

std::string extension(bool has_more)
{
    return std::string(1, char(has_more ? 0x83 : 0x03)) + "1234567";
}
} // namespace

TEST_CASE("an Ethernet record gives its frame without the padding of the record",
          "[mapi-core][drivers]")
{
    const Outcome outcome =
        read_erf(Erf{.flags = 5, .wire_len = 8, .frame = "abcdefgh", .padding = "pad"}.bytes() +
                 Erf{.wire_len = 1514, .fraction = 0x80000000, .frame = "snapped"}.bytes());
    CHECK(outcome.packets == std::vector<Packet>{{"abcdefgh", 8, kNs, 1, 1},
                                                 {"snapped", 1514, kNs + 500000000, 1, 0}});
    CHECK(outcome.wire_bytes == 1522);
    CHECK(outcome.last == 0);
    CHECK(outcome.info.link_type == 1);
    CHECK(outcome.info.device_flags == MAPI_DEVICE_OFFLINE);
    CHECK(std::string(outcome.stats.message).empty());
}

TEST_CASE("ERF time stamps are rounded to the nearest nanosecond", "[mapi-core][drivers]")
{
    const auto time_of = [](uint32_t fraction) {
        return read_erf(Erf{.fraction = fraction, .frame = "x"}.bytes()).packets.at(0).timestamp_ns;
    };
    CHECK(time_of(1) == kNs); // 0.23 ns
    CHECK(time_of(3) == kNs + 1);
    CHECK(time_of(0x7fffffff) == kNs + 500000000);
    CHECK(time_of(0xffffffff) == kNs + 1000000000);
}

TEST_CASE("each type of record has the link type of its frame", "[mapi-core][drivers]")
{
    const uint8_t number = GENERATE(as<uint8_t>(), 1, 2, 5, 10, 11, 15, 16, 17, 19, 20, 22, 23);
    const bool is_ethernet = number == 2 || number == 11 || number == 16 || number == 20;
    const bool is_ip = number == 22 || number == 23;
    const std::string cisco = "\x0f\x01\x08\x01", ppp = "\xff\x03\x01\x21";
    const Outcome outcome = read_erf(Erf{.type = number, .wire_len = 4, .frame = cisco}.bytes() +
                                     Erf{.type = number, .wire_len = 4, .frame = ppp}.bytes());
    INFO("type " << int(number));
    CHECK(outcome.packets == std::vector<Packet>{{cisco, 4, kNs,
                                                  uint16_t(is_ethernet ? 1
                                                           : is_ip     ? 101
                                                                       : 104),
                                                  0},
                                                 {ppp, 4, kNs,
                                                  uint16_t(is_ethernet ? 1
                                                           : is_ip     ? 101
                                                                       : 50),
                                                  0}});
    CHECK(std::string(outcome.stats.message).empty());
}

TEST_CASE("a batch with frames of several link layers is mixed", "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string ip = Erf{.type = 22, .frame = "E"}.bytes();
    const auto link_types = [&](const std::string &bytes) {
        return read_capture(mapi_driver_erf_file, CaptureBuilder().text(bytes).write(dir / "x.erf"))
            .link_types;
    };
    CHECK(link_types(ethernet("a") + ethernet("b")) == std::vector<uint16_t>{1});
    CHECK(link_types(ip + ip) == std::vector<uint16_t>{101});
    CHECK(link_types(ethernet("a") + ip) == std::vector<uint16_t>{MAPI_LINK_MIXED});
}

TEST_CASE("any number of extension headers is skipped", "[mapi-core][drivers]")
{
    std::string extensions;
    for (int i = GENERATE(0, 1, 20); i > 0; --i)
        extensions += extension(true);
    const Outcome outcome = read_erf(Erf{.type = 0x82,
                                         .wire_len = 5,
                                         .extensions = extensions + extension(false),
                                         .frame = "frame",
                                         .padding = "pad"}
                                         .bytes());
    CHECK(outcome.packets == std::vector<Packet>{{"frame", 5, kNs, 1, 0}});
}

TEST_CASE("losses are counted unless the record has a colour in their place",
          "[mapi-core][drivers]")
{
    const bool has_colour = GENERATE(false, true);
    const std::string record =
        Erf{.type = uint8_t(has_colour ? 11 : 2), .losses = 1000, .frame = "x"}.bytes();
    const std::string padding = Erf{.type = 48, .losses = 1}.bytes();
    CHECK(read_erf(record + ethernet("x") + record).stats.interface_drops ==
          (has_colour ? 0 : 2000));
    CHECK(read_erf(padding + record).stats.interface_drops == (has_colour ? 1 : 1001));
    CHECK(read_erf(record, 64, 3).stats.interface_drops ==
          (has_colour ? 0 : 3000)); // of all rounds, like the packets
}

TEST_CASE("padding and the recorder's own records are not packets", "[mapi-core][drivers]")
{
    std::string bytes;
    for (int i = 0; i < 100; ++i)
        bytes += Erf{.type = 48, .seconds = 0, .padding = std::string(size_t(i), 'p')}.bytes() +
                 Erf{.type = 27, .padding = "recorder"}.bytes();
    const Outcome outcome = read_erf(bytes + ethernet("only") + bytes);
    CHECK(outcome.packets == std::vector<Packet>{{"only", 60, kNs, 1, 0}});
    CHECK(outcome.last == 0);
    CHECK(std::string(outcome.stats.message).empty());
    CHECK(read_erf(bytes).packets.empty());
    CHECK(read_erf(bytes, 64, 0).packets.empty()); // not repeated forever
}

TEST_CASE("packets of other links are skipped and reported", "[mapi-core][drivers]")
{
    const std::string cell = Erf{.type = 3, .frame = std::string(52, 'c')}.bytes();
    const Outcome outcome = read_erf(
        ethernet("a") + cell + Erf{.type = 21, .frame = "infiniband"}.bytes() + ethernet("b"));
    CHECK(outcome.packets.size() == 2);
    CHECK(outcome.last == 0);
    CHECK(outcome.stats.bad_records == 0);
    CHECK_THAT(std::string(outcome.stats.message),
               Catch::Contains(
                   "x.erf: 2 packets are neither Ethernet, HDLC nor IP (the first at offset 19)"));
}

TEST_CASE("packets that the card marked as erroneous are returned and reported",
          "[mapi-core][drivers]")
{
    const uint8_t flag = GENERATE(as<uint8_t>(), 0x08, 0x10, 0x20);
    const Outcome outcome = read_erf(ethernet("a") + Erf{.flags = flag, .frame = "b"}.bytes());
    CHECK(outcome.packets.size() == 2);
    CHECK_THAT(
        std::string(outcome.stats.message),
        Catch::Contains(
            "1 packet is marked by the card as truncated or damaged (the first at offset 19)"));
}

TEST_CASE("ERF packets come from up to eight interfaces", "[mapi-core][drivers]")
{
    CHECK(read_erf(Erf{.flags = 0x07, .frame = "x"}.bytes()).packets.at(0).ifindex == 3);
    CHECK(read_erf(Erf{.flags = 0x46, .frame = "x"}.bytes()).packets.at(0).ifindex == 6);
}

TEST_CASE("records stay complete where an ERF file is larger than the buffer",
          "[mapi-core][drivers]")
{
    std::string bytes;
    std::vector<Packet> wanted;
    std::mt19937 random(1);
    for (uint32_t i = 0; i < 3000; ++i) {
        const std::string frame(i == 1500 ? 65517 : random() % 1500, char(i));
        bytes += Erf{.wire_len = 65535, .seconds = uint32_t(kSeconds + i), .frame = frame}.bytes();
        wanted.push_back({frame, 65535, (kSeconds + i) * 1000000000, 1, 0});
    }
    CHECK((read_erf(bytes, GENERATE(1u, 7u, 64u)).packets == wanted));
}

TEST_CASE("a truncated ERF file gives the packets before the end and reports where it ends",
          "[mapi-core][drivers]")
{
    const std::string record =
        Erf{.type = 0x82, .extensions = extension(false), .frame = "frame"}.bytes();
    const std::string bytes = record + record + record + record;
    for (size_t size = 0; size <= bytes.size(); ++size) {
        const Outcome outcome = read_erf(bytes.substr(0, size));
        INFO("cut at " << size << ": " << outcome.open_text << outcome.stats.message);
        CHECK(outcome.packets.size() == size / record.size());
        CHECK((outcome.open_error != 0) == (size < record.size()));
        CHECK(outcome.stats.truncated_records ==
              (size >= record.size() && size % record.size() != 0));
    }
}

TEST_CASE("a malformed record ends the read with its position, and the rest is counted",
          "[mapi-core][drivers]")
{
    const std::string good = ethernet("good");
    std::string bad, why;
    SECTION("no length at all")
    {
        bad = Erf{.record_bytes = 0, .frame = "x"}.bytes(), why = "a record of 0 bytes";
    }
    SECTION("shorter than its header")
    {
        bad = Erf{.record_bytes = 15, .frame = "x"}.bytes(), why = "a record of 15 bytes";
    }
    SECTION("shorter than the start of an Ethernet frame")
    {
        bad = Erf{.record_bytes = 17}.bytes(), why = "shorter than its headers";
    }
    SECTION("an extension header beyond the record")
    {
        bad = Erf{.type = 0x82, .record_bytes = 20}.bytes() + "abcd",
        why = "shorter than its headers";
    }
    SECTION("extension headers without end")
    {
        bad = Erf{.type = 0x82,
                  .extensions = extension(true) + extension(true),
                  .frame = std::string(6, '\x80')}
                  .bytes(),
        why = "shorter than its headers";
    }
    SECTION("type 0, of cards before ERF")
    {
        bad = Erf{.type = 0, .frame = "x"}.bytes(), why = "type 0";
    }
    SECTION("a type that ERF does not define")
    {
        bad = Erf{.type = 100, .frame = "x"}.bytes(), why = "type 100";
    }
    const Outcome outcome = read_erf(good + good + good + bad + good);
    CHECK(outcome.packets.size() == 3);
    CHECK(outcome.last == -1);
    CHECK(outcome.stats.bad_records == 1);
    CHECK(outcome.stats.unread_bytes == bad.size() + good.size());
    CHECK_THAT(std::string(outcome.stats.message),
               Catch::Contains("x.erf: offset " + std::to_string(3 * good.size())) &&
                   Catch::Contains(why));
}

TEST_CASE("files that are not ERF are refused with a remedy", "[mapi-core][drivers]")
{
    const auto refusal = [](const std::string &bytes) {
        const Outcome outcome = read_erf(bytes);
        CHECK(outcome.open_error == PCAP_OPEN_ERR);
        return outcome.open_text;
    };
    const std::string good = ethernet("good");
    CHECK_THAT(refusal(""), Catch::Contains("x.erf: is empty"));
    CHECK_THAT(refusal(CaptureBuilder().pcap_header().pcap_record("abcd", 4).bytes()),
               Catch::Contains("omit --erf") && Catch::Contains("MFF_PCAP"));
    CHECK_THAT(refusal(CaptureBuilder().section().interface(1).bytes()),
               Catch::Contains("MFF_PCAP"));
    CHECK_THAT(refusal("this is a text file, not a capture"),
               Catch::Contains("is not ERF") && Catch::Contains("capinfos"));
    CHECK_THAT(refusal(std::string(1000, '\0')),
               Catch::Contains("a record of 0 bytes") && Catch::Contains("at offset 0"));
    CHECK_THAT(refusal(good + std::string(100, '\0')), Catch::Contains("at offset 22"));
    CHECK_THAT(refusal(good + Erf{.seconds = 1600000000, .frame = "later"}.bytes()),
               Catch::Contains("a year later"));
    CHECK_THAT(refusal(good + Erf{.seconds = uint32_t(kSeconds - 61), .frame = "earlier"}.bytes()),
               Catch::Contains("earlier than the previous one"));
    CHECK_THAT(refusal(good + Erf{.type = 115, .record_bytes = 60000}.bytes()),
               Catch::Contains("type 115")); // even if it would be truncated
    CHECK(read_erf(good +
                   Erf{.seconds = uint32_t(kSeconds - 60), .frame = "of another interface"}.bytes())
              .packets.size() == 2);
    const TempDir dir;
    const std::string path = CaptureBuilder().text(good + good + good).write(dir / "x.erf");
    CHECK_THAT(read_capture(mapi_driver_pcap_file, path).open_text,
               Catch::Contains("if it is ERF, use --erf, format MFF_DAG_ERF or driver=erf_file"));
}

TEST_CASE("no sequence of invalid bytes makes the driver read beyond an ERF file",
          "[mapi-core][drivers]")
{
    const std::string good =
        ethernet("good") +
        Erf{.type = 0x93, .extensions = extension(true) + extension(false), .frame = "hash"}
            .bytes() +
        Erf{.type = 48}.bytes() + Erf{.type = 3, .frame = "cell"}.bytes() +
        Erf{.type = 22, .frame = "ip"}.bytes();
    std::mt19937 random(7);
    size_t reported = 0, packets = 0;
    for (int round = 0; round < 4000; ++round) {
        std::string bytes = good + good;
        for (int flips = 1 + int(random() % 4); flips > 0; --flips)
            bytes[random() % bytes.size()] = char(random());
        const Outcome outcome = read_erf(bytes, 1 + random() % 64, 1 + random() % 2);
        for (const Packet &packet : outcome.packets)
            REQUIRE(packet.data.size() < bytes.size());
        packets += outcome.packets.size();
        reported += outcome.open_error || outcome.stats.bad_records > 0;
    }
    CHECK(reported > 0);
    CHECK(packets > 0);
}
