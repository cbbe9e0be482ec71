// SPDX-License-Identifier: MIT
// pcap_file: what pcapng has besides packets: losses, and time stamps of every resolution.
#include "support/catch.hpp"

#include <string>

#include "drivers/catalog.hpp"
#include "mapi-core/capture_builder.hpp"
#include "mapi-core/drivers/read_capture.hpp"
#include "support/temp_dir.hpp"

using Catch::Contains;
using test_support::CaptureBuilder;
using test_support::Outcome;
using test_support::read_capture;
using test_support::TempDir;

namespace
{
std::string option(const CaptureBuilder &like, uint16_t code, const std::string &value)
{
    return like.part().u16(code).u16(uint16_t(value.size())).text(value).bytes() +
           std::string((4 - value.size() % 4) % 4, '\0');
}

// 64 bits.
std::string number(const CaptureBuilder &like, uint64_t value)
{
    CaptureBuilder part = like.part();
    const bool is_swapped = like.part().u16(1).bytes()[0] == 0;
    const auto low = uint32_t(value), high = uint32_t(value >> 32);
    return is_swapped ? part.u32(high).u32(low).bytes() : part.u32(low).u32(high).bytes();
}

std::string dropped(const CaptureBuilder &like, uint64_t packets)
{
    return option(like, 2, std::string(4, '\0')) + option(like, 4, number(like, packets)) +
           option(like, 0, "");
}

void add_packet(CaptureBuilder &capture, uint32_t interface, uint64_t ticks,
                const std::string &options = {}, const std::string &data = "abcd")
{
    const std::string padding((4 - data.size() % 4) % 4, '\0');
    capture.block(6, capture.part()
                             .u32(interface)
                             .u32(uint32_t(ticks >> 32))
                             .u32(uint32_t(ticks))
                             .u32(uint32_t(data.size()))
                             .u32(60)
                             .bytes() +
                         data + padding + options);
}

void add_obsolete(CaptureBuilder &capture, uint16_t interface, uint16_t drops)
{
    capture.block(2, capture.part().u16(interface).u16(drops).u32(0).u32(1).u32(4).u32(60).bytes() +
                         "abcd");
}

void add_statistics(CaptureBuilder &capture, uint32_t interface, const std::string &options)
{
    capture.block(5, capture.part().u32(interface).u32(0).u32(0).bytes() + options);
}

std::string by_interface(const CaptureBuilder &like, uint64_t packets)
{
    return option(like, 5, number(like, packets));
}

std::string by_system(const CaptureBuilder &like, uint64_t packets)
{
    return option(like, 7, number(like, packets));
}

Outcome read_all(const CaptureBuilder &capture)
{
    const TempDir dir;
    return read_capture(mapi_driver_pcap_file, capture.write(dir / "x.pcapng"));
}

uint64_t drops_of(const CaptureBuilder &capture)
{
    return read_all(capture).stats.interface_drops;
}

// One packet of an interface with this resolution and offset.
Outcome read_time(uint8_t resolution, int64_t offset_s, uint64_t ticks)
{
    CaptureBuilder capture(GENERATE(false, true));
    capture.section().interface(1, 0,
                                option(capture, 9, std::string(1, char(resolution))) +
                                    option(capture, 14, number(capture, uint64_t(offset_s))));
    add_packet(capture, 0, ticks);
    return read_all(capture);
}
} // namespace

TEST_CASE("the last of several statistics blocks of an interface counts", "[mapi-core][drivers]")
{
    CaptureBuilder capture(GENERATE(false, true));
    capture.section().interface(1).interface(1);
    for (const uint64_t packets : {5, 12, 12})
        add_statistics(capture, 0, by_interface(capture, packets));
    CHECK(drops_of(capture) == 12);
    add_statistics(capture, 1, by_interface(capture, 3) + by_system(capture, 4));
    CHECK(drops_of(capture) == 19);
    add_statistics(capture, 1, by_system(capture, 6)); // the other count stays
    CHECK(drops_of(capture) == 21);
    add_statistics(capture, 0, "");
    CHECK(drops_of(capture) == 21);
    capture.swap_from_here().section().interface(1); // its interface 0 is another one
    add_statistics(capture, 0, by_interface(capture, 100));
    CHECK(drops_of(capture) == 121);
    CHECK(std::string(read_all(capture).stats.message).empty());
}

TEST_CASE("losses stored with packets are counted", "[mapi-core][drivers]")
{
    CaptureBuilder capture(GENERATE(false, true));
    capture.section().interface(1).interface(1);
    add_packet(capture, 0, 1, dropped(capture, 9));
    CHECK(drops_of(capture) == 9);
    add_obsolete(capture, 1, 7);
    add_obsolete(capture, 1, 0xffff); // the number is unknown
    CHECK(drops_of(capture) == 16);
    add_packet(capture, 1, 1, dropped(capture, uint64_t(1) << 33), "abc"); // padded data
    CHECK(drops_of(capture) == 16 + (uint64_t(1) << 33));
    CHECK(read_all(capture).packets.size() == 4);
}

TEST_CASE("a loss stored both with a packet and in statistics is counted once",
          "[mapi-core][drivers]")
{
    CaptureBuilder capture;
    capture.section().interface(1).interface(1);
    add_packet(capture, 0, 1, dropped(capture, 4));
    add_packet(capture, 0, 2, dropped(capture, 5));
    add_statistics(capture, 0, by_interface(capture, 6) + by_system(capture, 3));
    CHECK(drops_of(capture) == 9);
    add_packet(capture, 0, 3, dropped(capture, 2)); // after the time that the statistics cover
    CHECK(drops_of(capture) == 11);
    add_statistics(capture, 0, by_interface(capture, 6)); // fewer than are known from packets
    CHECK(drops_of(capture) == 11);
    add_packet(capture, 1, 3, dropped(capture, 1)); // another interface
    CHECK(drops_of(capture) == 12);
    add_statistics(capture, 0, by_interface(capture, 20));
    CHECK(drops_of(capture) == 24);
}

TEST_CASE("losses whose sum exceeds 64 bits stay at the maximum", "[mapi-core][drivers]")
{
    CaptureBuilder beside(GENERATE(false, true));
    beside.section().interface(1).interface(1);
    add_packet(beside, 0, 1, dropped(beside, 9));
    add_packet(beside, 0, 2, dropped(beside, UINT64_MAX - 8));
    CHECK(drops_of(beside) == UINT64_MAX);
    add_packet(beside, 1, 2, dropped(beside, 1));
    CHECK(drops_of(beside) == UINT64_MAX);
    for (const uint32_t interface : {0, 7}) { // 7 was not described
        CaptureBuilder capture(GENERATE(false, true));
        capture.section().interface(1);
        add_statistics(capture, interface,
                       by_interface(capture, UINT64_MAX) + by_system(capture, 1));
        CHECK(drops_of(capture) == UINT64_MAX);
        capture.swap_from_here().section().interface(1); // its interface 0 is another one
        add_statistics(capture, interface, by_system(capture, 1));
        CHECK(drops_of(capture) == UINT64_MAX);
    }
}

TEST_CASE("statistics of an interface that was not described are counted and reported",
          "[mapi-core][drivers]")
{
    CaptureBuilder capture;
    capture.section().interface(1);
    add_statistics(capture, 1, by_interface(capture, 6));
    const Outcome outcome = read_all(capture);
    CHECK(outcome.stats.interface_drops == 6);
    CHECK_THAT(outcome.stats.message, Contains("1 block of statistics names an interface that was "
                                               "not described (the first at offset 48)"));
}

TEST_CASE("a time stamp follows from its resolution and offset", "[mapi-core][drivers]")
{
    const auto ns = [](uint8_t resolution, int64_t offset_s, uint64_t ticks) {
        const Outcome outcome = read_time(resolution, offset_s, ticks);
        INFO(outcome.stats.message);
        REQUIRE(outcome.packets.size() == 1);
        CHECK(std::string(outcome.stats.message).empty());
        return outcome.packets[0].timestamp_ns;
    };
    CHECK(ns(6, 0, 1700000000123456) == 1700000000123456000);
    CHECK(ns(6, -1700000000, 1700000000123456) == 123456000);
    CHECK(ns(0, 1700000000, 3) == 1700000003000000000);
    CHECK(ns(12, 0, 1700000000123456789) == 1700000000123456);
    CHECK(ns(0x80 | 20, 0, uint64_t(3) << 19) == 1500000000);
    CHECK(ns(0x80 | 63, 5, uint64_t(1) << 62) == 5500000000);
    CHECK(ns(19, 5, UINT64_MAX) == 6844674407);
    CHECK(ns(9, 0, 4294967295999999999) == 4294967295999999999);
    CHECK(ns(9, -9000000000, 9000000001000000000) == 1000000000);
}

TEST_CASE("a time stamp beyond 64 bits of nanoseconds ends the read, with the packet's number",
          "[mapi-core][drivers]")
{
    const auto is_refused = [](uint8_t resolution, int64_t offset_s, uint64_t ticks) {
        const Outcome outcome = read_time(resolution, offset_s, ticks);
        INFO(outcome.stats.message);
        CHECK_THAT(outcome.stats.message,
                   Contains("packet 1 has a timestamp before 1970 or after 2554"));
        CHECK(outcome.stats.bad_records == 1);
        CHECK(outcome.stats.unread_bytes == 36);
        return outcome.packets.empty() && outcome.last == -1;
    };
    CHECK(is_refused(6, 0, UINT64_MAX));
    CHECK(is_refused(0, 0, 18446744074));
    CHECK(is_refused(3, 0, 18446744073710));
    CHECK(is_refused(0x80, 0, uint64_t(1) << 40));
    CHECK(is_refused(0x80 | 10, 0, uint64_t(18446744074) << 10));
    CHECK(is_refused(6, -2, 1999999));
    CHECK(is_refused(12, -2, 1999999999999));
    CHECK(is_refused(9, 1, UINT64_MAX));
    CHECK(is_refused(9, INT64_MAX, 0));
    CHECK(is_refused(9, INT64_MIN, UINT64_MAX));
    CHECK(is_refused(19, INT64_MIN, UINT64_MAX));
    CHECK(is_refused(19, INT64_MAX, 0));
    CHECK(is_refused(0x80 | 63, -2, UINT64_MAX));
}

TEST_CASE("packets before a refused time stamp are returned, and the number counts from the start",
          "[mapi-core][drivers]")
{
    CaptureBuilder capture;
    capture.section().interface(1).interface(1, 0, option(capture, 9, std::string(1, '\0')));
    for (int i = 0; i < 99; ++i)
        add_packet(capture, 0, 1);
    add_packet(capture, 1, UINT64_MAX);
    add_packet(capture, 0, 1);
    const Outcome outcome = read_all(capture);
    CHECK(outcome.packets.size() == 99);
    CHECK_THAT(outcome.stats.message, Contains("packet 100 has a timestamp"));
}

TEST_CASE("the last 64-bit ns times are read, and reported if 32-bit seconds cannot hold them",
          "[mapi-core][drivers]")
{
    const auto ns = [](uint8_t resolution, int64_t offset_s, uint64_t ticks) {
        const Outcome outcome = read_time(resolution, offset_s, ticks);
        REQUIRE(outcome.packets.size() == 1);
        CHECK_THAT(
            outcome.stats.message,
            Contains("1 packet has a timestamp after 2106 (the first is packet 1, at offset"));
        return outcome.packets[0].timestamp_ns;
    };
    CHECK(ns(9, 0, UINT64_MAX) == UINT64_MAX);
    CHECK(ns(0, 0, 18446744073) == 18446744073000000000u);
    CHECK(ns(6, 0, 18446744073709551) == 18446744073709551000u);
    CHECK(ns(0x80 | 32, 18446744073, 3047500985) == 18446744073709551615u);
    CHECK(ns(0, 0, 4294967296) == 4294967296000000000u);
    CHECK(ns(9, 0, 4294967296000000000) == 4294967296000000000u);
}
