// SPDX-License-Identifier: MIT
// pcap_file: files of every kind -> the original packets, or a message with position and reason.
#include "support/catch.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

#include <sys/stat.h>

#include "drivers/catalog.hpp"
#include "mapi-core/capture_builder.hpp"
#include "mapi-core/drivers/read_capture.hpp"
#include "support/temp_dir.hpp"

#include <mapi/errors.h>

using test_support::CaptureBuilder;
using test_support::Outcome;
using test_support::Packet;
using test_support::read_capture;
using test_support::TempDir;

namespace
{
Outcome read_all(const std::string &path, uint32_t limit = 64, uint64_t repeat = 1,
                 size_t packets_max = SIZE_MAX)
{
    return read_capture(mapi_driver_pcap_file, path, limit, repeat, packets_max);
}

std::string option(const CaptureBuilder &like, uint16_t code, const std::string &value)
{
    return like.part().u16(code).u16(uint16_t(value.size())).text(value).bytes() +
           std::string((4 - value.size() % 4) % 4, '\0');
}
} // namespace

TEST_CASE("a pcap file gives the same packets in both byte orders and both resolutions",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    const bool swapped = GENERATE(false, true);
    const bool is_ns = GENERATE(false, true);
    CaptureBuilder capture(swapped);
    capture.pcap_header(is_ns ? 0xa1b23c4d : 0xa1b2c3d4);
    capture.pcap_record("abcd", 60, 7, is_ns ? 123456000 : 123456).pcap_record("", 0, 8, 0);

    const Outcome outcome = read_all(capture.write(dir / "x.pcap"));

    CHECK(outcome.packets ==
          std::vector<Packet>{{"abcd", 60, 7123456000, 1, 0}, {"", 0, 8000000000, 1, 0}});
    CHECK(outcome.wire_bytes == 60);
    CHECK(outcome.last == 0);
    CHECK(outcome.info.link_type == 1);
    CHECK(std::string(outcome.stats.message).empty());
}

TEST_CASE("the old pcap variants are read", "[mapi-core][drivers]")
{
    const TempDir dir;
    CaptureBuilder modified; // Kuznetsov's, with eight more bytes per record
    modified.pcap_header(0xa1b2cd34).u32(1).u32(2).u32(3).u32(9).text("12345678").text("xyz");
    CHECK(read_all(modified.write(dir / "m.pcap")).packets ==
          std::vector<Packet>{{"xyz", 9, 1000002000, 1, 0}});

    CaptureBuilder early; // before 2.3, the wire length came first
    early.u32(0xa1b2c3d4)
        .u16(2)
        .u16(2)
        .u32(0)
        .u32(0)
        .u32(65535)
        .u32(1)
        .u32(1)
        .u32(0)
        .u32(9)
        .u32(3)
        .text("xyz");
    CHECK(read_all(early.write(dir / "e.pcap")).packets ==
          std::vector<Packet>{{"xyz", 9, 1000000000, 1, 0}});
}

TEST_CASE("the same capture is read in the same batches wherever the heap is",
          "[mapi-core][drivers]")
{
    TempDir dir;
    CaptureBuilder capture;
    capture.pcap_header();
    for (size_t i = 0; i < 8000; ++i)
        capture.pcap_record(std::string(60 + i * 37 % 1400, 'x'), 1500);
    const std::string path = capture.write(dir / "long.pcap");
    const std::vector<uint32_t> first = read_all(path).batches;
    CHECK(first.size() > 8000 / 64);
    std::free(
        std::malloc(4 << 20)); // from now on larger blocks also come from the heap, at any address
    std::vector<std::unique_ptr<char[]>> in_the_way;
    for (size_t bytes = 16; bytes < 4096; bytes += 272) {
        in_the_way.emplace_back(new char[(1 << 20) + bytes]);
        CHECK(read_all(path).batches == first);
    }
}

TEST_CASE("a record longer than the snap length is truncated to it, as libpcap does, and reported",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    CaptureBuilder capture;
    SECTION("pcap")
    {
        capture.pcap_header(0xa1b2c3d4, 3)
            .pcap_record("z", 1)
            .pcap_record("abcdef", 60)
            .pcap_record("ghijkl", 60);
    }
    SECTION("pcapng")
    {
        capture.section()
            .interface(1, 3)
            .enhanced(0, 1000000, "z", 1)
            .enhanced(0, 1000000, "abcdef", 60)
            .enhanced(0, 1000000, "ghijkl", 60);
    }
    const bool is_ng = capture.bytes()[0] == 0x0a;

    const Outcome outcome = read_all(capture.write(dir / "x.pcap"), GENERATE(1u, 64u));

    CHECK(outcome.packets == std::vector<Packet>{{"z", 1, 1000000000, 1, 0},
                                                 {"abc", 60, 1000000000, 1, 0},
                                                 {"ghi", 60, 1000000000, 1, 0}});
    CHECK(outcome.last == 0);
    CHECK(outcome.stats.bad_records == 0);
    CHECK(outcome.stats.unread_bytes == 0);
    CHECK_THAT(std::string(outcome.stats.message),
               Catch::Contains("x.pcap: 2 records hold more bytes than the snaplen") &&
                   Catch::Contains(is_ng ? "offset 84" : "offset 41"));
}

TEST_CASE("a snap length of zero means no limit", "[mapi-core][drivers]")
{
    const TempDir dir;
    CaptureBuilder capture;
    SECTION("pcap")
    {
        capture.pcap_header(0xa1b2c3d4, 0).pcap_record("abcdef", 60);
    }
    SECTION("pcapng")
    {
        capture.section().interface(1, 0).enhanced(0, 1000000, "abcdef", 60);
    }

    const Outcome outcome = read_all(capture.write(dir / "x"));

    CHECK(outcome.packets == std::vector<Packet>{{"abcdef", 60, 1000000000, 1, 0}});
    CHECK(std::string(outcome.stats.message).empty());
}

TEST_CASE("a record with more bytes than its wire length is returned and reported",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    CaptureBuilder capture;
    SECTION("pcap")
    {
        capture.pcap_header().pcap_record("abcd", 60).pcap_record("abcdef", 2);
    }
    SECTION("pcapng")
    {
        capture.section().interface(1).enhanced(0, 1, "abcd", 60).enhanced(0, 1, "abcdef", 2);
    }
    const bool is_ng = capture.bytes()[0] == 0x0a;

    const Outcome outcome = read_all(capture.write(dir / "x.pcap"));

    REQUIRE(outcome.packets.size() == 2);
    CHECK(outcome.packets[1].data == "abcdef");
    CHECK(outcome.stats.bad_records == 0);
    CHECK_THAT(std::string(outcome.stats.message),
               Catch::Contains("1 record holds more bytes than the wire") &&
                   Catch::Contains(is_ng ? "offset 84" : "offset 44"));
}

TEST_CASE("a pcapng file gives every kind of packet block in both byte orders",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    CaptureBuilder capture(GENERATE(false, true));
    capture.section();
    capture.interface(1, 4,
                      option(capture, 9, "\x09")); // nanoseconds; a snap length for simple packets
    capture.interface(101, 0, option(capture, 9, "\x83")); // an eighth of a second
    capture.block(4, "names");
    capture.enhanced(0, 5, "abcd", 60)
        .enhanced(1, 12, "raw", 3)
        .simple("wxyz", 99)
        .obsolete(1, 8, "old", 4);
    const std::string drops = capture.part().u32(capture.bytes().empty() ? 0 : 7).u32(0).bytes();
    capture.block(5, capture.part().u32(0).u32(0).u32(0).bytes() + option(capture, 5, drops));

    const Outcome outcome = read_all(capture.write(dir / "x.pcapng"));

    CHECK(outcome.packets == std::vector<Packet>{{"abcd", 60, 5, 1, 0},
                                                 {"raw", 3, 1500000000, 101, 1},
                                                 {"wxyz", 99, 0, 1, 0},
                                                 {"old", 4, 1000000000, 101, 1}});
    CHECK(outcome.info.link_type == 1);
    CHECK(outcome.last == 0);
    CHECK(outcome.stats.interface_drops > 0);
    CHECK(std::string(outcome.stats.message).empty());
}

TEST_CASE("sections of one pcapng file may differ in byte order and interfaces",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    CaptureBuilder capture;
    capture.section().interface(1).enhanced(0, 1, "one", 3);
    capture.swap_from_here().section().interface(113).enhanced(0, 2, "two", 3);
    CHECK(read_all(capture.write(dir / "x.pcapng")).packets ==
          std::vector<Packet>{{"one", 3, 1000, 1, 0}, {"two", 3, 2000, 113, 1}});
}

TEST_CASE("packets stay complete where the file is larger than the buffer", "[mapi-core][drivers]")
{
    const TempDir dir;
    const bool is_ng = GENERATE(false, true);
    const uint32_t limit = GENERATE(1u, 7u, 64u);
    CaptureBuilder capture;
    std::vector<Packet> wanted;
    is_ng ? capture.section().interface(1) : capture.pcap_header(0xa1b2c3d4, 262144);
    std::mt19937 random(1);
    for (uint32_t i = 0; i < 3000; ++i) {
        const std::string data(i == 1500 ? 262144 : random() % 1500, char(i));
        is_ng ? capture.enhanced(0, i * 1000000ull, data, i) : capture.pcap_record(data, i, i);
        wanted.push_back({data, i, i * 1000000000ull, 1, 0});
    }
    CHECK((read_all(capture.write(dir / "x"), limit).packets == wanted));
}

TEST_CASE("a truncated file gives the packets before the end and reports where it ends",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    const bool is_ng = GENERATE(false, true);
    CaptureBuilder capture;
    is_ng ? capture.section().interface(1) : capture.pcap_header();
    std::vector<size_t> whole_after; // file sizes at which one more packet is complete
    for (int i = 0; i < 3; ++i) {
        is_ng ? capture.enhanced(0, 1, "packet", 6) : capture.pcap_record("packet", 6);
        whole_after.push_back(capture.bytes().size());
    }
    for (size_t size = 0; size < capture.bytes().size(); ++size) {
        CaptureBuilder cut;
        cut.text(capture.bytes().substr(0, size));
        const Outcome outcome = read_all(cut.write(dir / "cut"));
        const size_t wanted = size_t(std::count_if(whole_after.begin(), whole_after.end(),
                                                   [&](size_t s) { return s <= size; }));
        INFO("cut at " << size << ": " << outcome.open_text << outcome.stats.message);
        CHECK(outcome.packets.size() == wanted);
        const bool is_border =
            size >= 24 &&
            (std::find(whole_after.begin(), whole_after.end(), size) != whole_after.end() ||
             (!is_ng && size == 24) || (is_ng && (size == 28 || size == 48)));
        if (outcome.open_error)
            CHECK_THAT(outcome.open_text, Catch::Contains("cut"));
        else
            CHECK(outcome.stats.truncated_records == (is_border ? 0 : 1));
    }
}

TEST_CASE("an impossible length ends the read with its position, and the rest is counted",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    CaptureBuilder capture;
    capture.pcap_header().pcap_record("good", 4).u32(1).u32(0).u32(262145).u32(60).text("rest");
    const Outcome outcome = read_all(capture.write(dir / "x.pcap"));
    CHECK(outcome.packets.size() == 1);
    CHECK(outcome.last == -1);
    CHECK(outcome.stats.bad_records == 1);
    CHECK(outcome.stats.unread_bytes == 20);
    CHECK_THAT(std::string(outcome.stats.message),
               Catch::Contains("x.pcap: offset 44") && Catch::Contains("262145"));
}

TEST_CASE("damaged pcapng blocks end the read with their position", "[mapi-core][drivers]")
{
    const TempDir dir;
    CaptureBuilder capture;
    capture.section().interface(1).enhanced(0, 1, "good", 4);
    const size_t place = capture.bytes().size();
    SECTION("an interface that was not described")
    {
        capture.enhanced(1, 1, "bad", 3);
    }
    SECTION("a captured length beyond the block")
    {
        capture.block(6, capture.part().u32(0).u32(0).u32(0).u32(99).u32(99).text("bad").bytes());
    }
    SECTION("a packet block without room for its header")
    {
        capture.block(6, "shrt");
    }
    SECTION("two lengths that differ")
    {
        capture.u32(6).u32(16).u32(0).u32(20);
    }
    SECTION("a length that no block can have")
    {
        capture.u32(6).u32(7).u32(0).u32(7);
    }
    SECTION("an interface description without its fields")
    {
        capture.block(1, "");
    }
    SECTION("a section without byte-order magic")
    {
        capture.block(0x0a0d0d0a, std::string(16, 'x'));
    }
    const Outcome outcome = read_all(capture.write(dir / "x.pcapng"));
    CHECK(outcome.packets.size() == 1);
    CHECK(outcome.stats.bad_records == 1);
    CHECK(outcome.stats.unread_bytes == capture.bytes().size() - place);
    CHECK_THAT(std::string(outcome.stats.message),
               Catch::Contains("offset " + std::to_string(place)));
}

TEST_CASE("files that are not captures are refused with a remedy", "[mapi-core][drivers]")
{
    const TempDir dir;
    const auto refusal = [&](const std::string &bytes) {
        const Outcome outcome = read_all(CaptureBuilder().text(bytes).write(dir / "x"));
        CHECK(outcome.open_error == PCAP_OPEN_ERR);
        return outcome.open_text;
    };
    CHECK_THAT(refusal(""), Catch::Contains("is empty"));
    CHECK_THAT(refusal("this is a text file, not a capture"),
               Catch::Contains("neither pcap nor pcapng"));
    CHECK_THAT(read_all(dir / "absent").open_text, Catch::Contains("No such file"));
    CHECK_THAT(read_all(dir.path().string()).open_text,
               Catch::Contains("is a directory (specify a file in it)"));
}

TEST_CASE("a file is repeated as often as requested, and an empty one is not repeated forever",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    CaptureBuilder capture;
    capture.pcap_header();
    const std::string empty = capture.write(dir / "empty.pcap");
    const std::string full =
        capture.pcap_record("abcd", 4).pcap_record("efgh", 4).write(dir / "full.pcap");
    CHECK(read_all(full, 64, 3).packets.size() == 6);
    const Outcome endless = read_all(full, 1, 0, 100);
    CHECK(endless.packets.size() == 100);
    CHECK((endless.info.device_flags & MAPI_DEVICE_OFFLINE) == 0);
    CHECK(read_all(empty, 64, 0).packets.empty());
}

TEST_CASE("no sequence of invalid bytes makes the driver read beyond the file",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    CaptureBuilder capture;
    const bool is_ng = GENERATE(false, true);
    is_ng ? capture.section().interface(1, 0, option(capture, 9, "\x06")) : capture.pcap_header();
    for (int i = 0; i < 4; ++i)
        is_ng ? capture.enhanced(0, 1, "packet", 6).simple("simple", 6)
              : capture.pcap_record("packet", 6);
    std::mt19937 random(7);
    size_t reported = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string bytes = capture.bytes();
        for (int flips = 1 + int(random() % 4); flips > 0; --flips)
            bytes[random() % bytes.size()] = char(random());
        const Outcome outcome = read_all(CaptureBuilder().text(bytes).write(dir / "x"));
        for (const Packet &packet : outcome.packets)
            REQUIRE(packet.data.size() < bytes.size());
        reported += outcome.open_error || *outcome.stats.message;
    }
    CHECK(reported > 0);
}

TEST_CASE("an interrupted read from a pipe ends with what has arrived so far",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string path = dir / "pipe";
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    const std::string bytes = CaptureBuilder().pcap_header().pcap_record("abcd", 4).bytes();
    std::atomic<bool> is_done = false;
    std::thread writer([&] { // keeps the pipe open without writing
        std::ofstream out(path, std::ios::binary);
        out.write(bytes.data(), std::streamsize(bytes.size())).flush();
        while (!is_done)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    mapi_driver_setup setup = {};
    char text[512] = "";
    setup.struct_size = sizeof(setup);
    setup.path = path.c_str();
    setup.repeat = 1;
    setup.error = text;
    setup.error_bytes = sizeof(text);
    void *file = nullptr;
    mapi_driver_info info = {};
    REQUIRE(mapi_driver_pcap_file.open(&setup, &file, &info) == 0);
    mapi_packet packets[64];
    mapi_batch batch = {};
    CHECK(mapi_driver_pcap_file.read(file, packets, 64, &batch) == 1);
    int last = 1;
    std::thread reader([&] { last = mapi_driver_pcap_file.read(file, packets, 64, &batch); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(mapi_driver_pcap_file.interrupt != nullptr);
    mapi_driver_pcap_file.interrupt(file);
    reader.join();
    CHECK(last <= 0);
    is_done = true;
    writer.join();
    mapi_driver_pcap_file.close(file);
}

TEST_CASE("a file of very many empty sections is read to its end", "[mapi-core][drivers]")
{
    const TempDir dir;
    CaptureBuilder capture;
    for (int i = 0; i < 300000; ++i)
        capture.section();
    capture.interface(1).enhanced(0, 1000000, "abcd", 60);
    const Outcome outcome = read_all(capture.write(dir / "x.pcapng"));
    CHECK(outcome.packets.size() == 1);
    CHECK(outcome.last == 0);
}
