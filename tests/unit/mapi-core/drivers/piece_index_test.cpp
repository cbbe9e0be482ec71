// SPDX-License-Identifier: MIT
// Piece index: packets that the read-ahead thread finds and filters are those of reading in place,
// whatever happens to the file.
#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "drivers/bytes/read_ahead.hpp"
#include "drivers/catalog.hpp"
#include "drivers/formats/pcap_records.hpp"
#include "mapi-core/capture_builder.hpp"
#include "mapi-core/drivers/large_captures.hpp"
#include "mapi-core/drivers/read_capture.hpp"
#include "support/requires.hpp"
#include "support/temp_dir.hpp"

using test_support::CaptureBuilder;
using test_support::check_same;
using test_support::has_two_processors;
using test_support::kLargeBytes;
using test_support::large_pcap;
using test_support::OpenCapture;
using test_support::Outcome;
using test_support::read_capture;
using test_support::read_in_place;
using test_support::TempDir;

namespace
{
// Reads so slowly that two threads are always faster than one.
struct SlowSource : mapi::drivers::ByteSource {
    explicit SlowSource(std::string all) : bytes(std::move(all)) {}
    size_t read(uint8_t *, size_t) override { return 0; }
    bool rewind() override { return false; }
    void interrupt() override {}
    bool has_offsets() const override { return true; }
    size_t read_at(uint64_t offset, uint8_t *to, size_t room) override
    {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        return bytes.copy(reinterpret_cast<char *>(to), room,
                          std::min<size_t>(offset, bytes.size()));
    }
    bool is_open_ended() const override { return false; }
    uint64_t rest_bytes() const override { return bytes.size(); }
    const std::string bytes;
};

std::string tiny_packets(size_t bytes)
{
    CaptureBuilder capture;
    capture.pcap_header();
    for (size_t i = 0; i * 16 < bytes; ++i)
        capture.pcap_record(std::string(i % 3, char(i)), 60);
    return capture.bytes();
}

// Passes packets with an odd number of bytes.
struct OddLengths {
    OddLengths() { table = {sizeof(table), 1, run, this}; }
    static uint64_t passing(const mapi_batch &batch)
    {
        uint64_t passed = 0;
        for (uint32_t i = 0; i < batch.count; ++i)
            passed |= uint64_t(batch.packets[i].caplen & 1) << i;
        return passed;
    }
    static void run(const mapi_prefilter *prefilter, const mapi_batch *batch,
                    mapi_prefiltered *result)
    {
        auto &self = *static_cast<OddLengths *>(prefilter->engine);
        if (!self.is_set)
            self.was_run_later = true;
        *result = {self.number, 1, {passing(*batch)}};
    }
    mapi_prefilter table;
    uint64_t number = 7;
    std::atomic<bool> is_set = true, was_run_later = false;
};
} // namespace

TEST_CASE("packets found by another thread come in batches of any size, also tiny ones",
          "[mapi-core][drivers][piece_index]")
{
    const uint32_t limit = GENERATE(1u, 10u, 64u);
    const TempDir dir;
    std::string bytes;
    SECTION("packets of all sizes")
    {
        bytes = large_pcap();
    }
    SECTION("more packets in a piece than the thread looks for")
    {
        bytes = tiny_packets(kLargeBytes / 2);
    }
    const std::string path = CaptureBuilder().text(bytes).write(dir / "large.pcap");
    check_same(read_capture(mapi_driver_pcap_file, path, limit),
               read_in_place(mapi_driver_pcap_file, path));
}

TEST_CASE("a prefilter's result comes with its packets, and a removed prefilter does not run",
          "[mapi-core][drivers][piece_index]")
{
    if (!has_two_processors())
        return test_support::skip("only one CPU: no read-ahead");
    const TempDir dir;
    const std::string path = CaptureBuilder().text(large_pcap()).write(dir / "large.pcap");
    OddLengths odd;
    OpenCapture capture(path);
    mapi_driver_pcap_file.filter->set_prefilter(capture.file, &odd.table);
    mapi_packet packets[64];
    mapi_batch batch = {};
    uint64_t batches = 0;
    while (mapi_driver_pcap_file.read(capture.file, packets, 64, &batch) > 0) {
        if (batch.prefiltered) { // depends on the machine whether the thread helps
            REQUIRE(batch.prefiltered->number == odd.number);
            REQUIRE(batch.prefiltered->passed[0] == OddLengths::passing(batch));
        }
        if (++batches == 900) {
            mapi_driver_pcap_file.filter->set_prefilter(capture.file, nullptr);
            odd.is_set = false;
        }
    }
    CHECK_FALSE(odd.was_run_later);
}

TEST_CASE("the read-ahead thread indexes and prefilters a piece once its first offset is known",
          "[mapi-core][drivers][piece_index]")
{
    if (!has_two_processors())
        return test_support::skip("only one CPU: no read-ahead");
    constexpr size_t kRecordBytes = 1001, kPieceBytes = mapi::drivers::ReadAhead::kPieceBytes;
    CaptureBuilder capture;
    for (size_t i = 0; i < kLargeBytes / kRecordBytes; ++i)
        capture.pcap_record(std::string(kRecordBytes - 16, char(i)), 1500);
    SlowSource source(capture.bytes());
    mapi::drivers::PcapSettings settings = {};
    settings.variant = {0xa1b2c3d4, 16, 1000};
    settings.max_caplen = settings.snaplen = 65535;
    settings.link_type = 1;
    OddLengths odd;
    const auto slot = std::make_shared<mapi::drivers::PrefilterSlot>();
    slot->set(&odd.table);
    const auto ahead = mapi::drivers::ReadAhead::start(
        source, 0, {std::make_shared<mapi::drivers::PcapPieces<false>>(settings), slot});
    REQUIRE(ahead);
    const bool reports = GENERATE(true, false);
    uint64_t at = 0, indexed = 0, prefiltered = 0;
    for (mapi::drivers::ReadAhead::Piece piece; (piece = ahead->take()).bytes == kPieceBytes;
         at += kPieceBytes) {
        const uint8_t *const first = piece.at + (kRecordBytes - at % kRecordBytes) % kRecordBytes;
        if (const auto *index = piece.index) {
            REQUIRE(index->record_of(0) == first);
            REQUIRE(index->end() > piece.at + kPieceBytes - kRecordBytes);
            ++indexed;
            for (uint32_t i = 0; i < index->count(); ++i) {
                prefiltered +=
                    index->batch(i).prefiltered &&
                    index->batch(i).prefiltered->passed[0] == OddLengths::passing(index->batch(i));
                REQUIRE(index->batch(i).packets[0].data[0] ==
                        uint8_t((at + uint64_t(index->record_of(i) - piece.at)) / kRecordBytes));
            }
        } else if (reports) {
            ahead->index_from(first);
        }
        ahead->release_before();
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // let the thread get ahead
    }
    CHECK((indexed > 0) == reports);
    CHECK(prefiltered >= 2 * indexed);
}

TEST_CASE("in a capture modified during the read, each byte is in one packet or not read",
          "[mapi-core][drivers][piece_index]")
{
    constexpr size_t kHeaderBytes = 16;
    const TempDir dir;
    const std::string bytes = large_pcap();
    std::vector<size_t> records; // beyond the start of the second thread
    for (size_t at = 24; at < bytes.size();) {
        if (at > kLargeBytes / 3)
            records.push_back(at);
        uint32_t caplen = 0;
        memcpy(&caplen, &bytes[at + 8], sizeof(caplen));
        at += kHeaderBytes + caplen;
    }
    for (unsigned seed = 1; seed <= 5; ++seed) {
        const std::string path = CaptureBuilder().text(bytes).write(dir / "large.pcap");
        std::atomic<bool> is_read = false;
        std::thread writer([&] { // packets both shorter and longer than before
            std::mt19937 random(seed);
            for (std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
                 !is_read;) {
                const uint32_t header[] = {1, 1, uint32_t(random() % 1500), 1500};
                file.seekp(std::streamoff(records[random() % records.size()]));
                file.write(reinterpret_cast<const char *>(header), sizeof(header)).flush();
            }
        });
        const Outcome outcome = read_capture(mapi_driver_pcap_file, path);
        is_read = true;
        writer.join();
        uint64_t read_bytes = 24;
        for (const auto &packet : outcome.packets)
            read_bytes += kHeaderBytes + packet.data.size();
        CHECK(outcome.packets.size() > 10000);
        CHECK(read_bytes + outcome.stats.unread_bytes == bytes.size());
    }
}

TEST_CASE("a capture rewritten in another byte order is read in that order the next time",
          "[mapi-core][drivers][piece_index]")
{
    constexpr uint64_t kPackets = 24000;
    constexpr uint32_t kNull = 0; // whose pseudo header is in the recorder's byte order
    const auto capture_of = [](bool is_swapped) {
        CaptureBuilder capture(is_swapped);
        capture.pcap_header(0xa1b2c3d4, 65535, kNull);
        for (uint64_t i = 0; i < kPackets; ++i)
            capture.pcap_record(CaptureBuilder(is_swapped).u32(2).bytes() + std::string(996, 'x'),
                                1000);
        return capture.bytes();
    };
    const TempDir dir;
    const std::string path = CaptureBuilder().text(capture_of(false)).write(dir / "large.pcap"),
                      other = capture_of(true);
    void *file = nullptr;
    mapi_driver_setup setup = {};
    setup.struct_size = sizeof(setup);
    setup.path = path.c_str();
    setup.repeat = 2;
    mapi_driver_info info = {};
    REQUIRE(mapi_driver_pcap_file.open(&setup, &file, &info) == 0);
    mapi_packet packets[64];
    mapi_batch batch = {};
    uint64_t count = 0, wrong = 0;
    while (mapi_driver_pcap_file.read(file, packets, 64, &batch) > 0) {
        for (uint32_t i = 0; i < batch.count; ++i)
            wrong += memcmp(batch.packets[i].data, "\2\0\0\0", 4) != 0;
        count += batch.count;
        if (count == kPackets)
            std::fstream(path, std::ios::binary | std::ios::in | std::ios::out)
                .write(other.data(), std::streamsize(other.size()));
    }
    mapi_driver_pcap_file.close(file);
    CHECK(count == 2 * kPackets);
    CHECK(wrong == 0);
}
