// SPDX-License-Identifier: MIT
// packet_sink, packet_record, file_rotation: packets -> consecutive files that capture readers
// accept.
#include "functions/output/packet_sink.hpp"

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "drivers/catalog.hpp"
#include "mapi-core/drivers/read_capture.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace mapi::functions;
using test_support::read_capture;
using test_support::TempDir;

namespace
{
const auto kNobodyGivesUp = [] { return false; };

// Packets that are "abcdefgh" and have these times.
std::string records_of(PacketRecords &records, const std::vector<mapi_packet> &packets)
{
    std::string bytes;
    for (const mapi_packet &packet : packets)
        REQUIRE(records.append(bytes, packet, packet.caplen) == RecordTaken::kYes);
    return bytes;
}

mapi_packet packet(uint64_t time_ns, uint16_t link_type = 1, uint16_t interface = 0)
{
    mapi_packet made = {};
    made.data = reinterpret_cast<const uint8_t *>("abcdefgh");
    made.caplen = made.wire_len = 8;
    made.timestamp_ns = time_ns;
    made.link_type = link_type;
    made.ifindex = interface;
    return made;
}

class Files
{
public:
    explicit Files(unsigned count)
    {
        for (unsigned i = 0; i < count; ++i) {
            paths_.push_back(dir_ / std::to_string(i));
            descriptors_.push_back(open(paths_.back().c_str(), O_WRONLY | O_CREAT, 0600));
            REQUIRE(descriptors_.back() >= 0);
        }
    }
    ~Files()
    {
        for (const int descriptor : descriptors_)
            close(descriptor);
    }
    Files(const Files &) = delete;
    Files &operator=(const Files &) = delete;

    const std::vector<int> &descriptors() const { return descriptors_; }
    // The packets' times; -1 if it is not a valid capture.
    std::vector<int64_t> times(size_t file) const
    {
        const auto outcome = read_capture(mapi_driver_pcap_file, paths_[file].string());
        std::vector<int64_t> times;
        for (const auto &read : outcome.packets)
            times.push_back(int64_t(read.timestamp_ns));
        if (outcome.open_error || *outcome.stats.message)
            times.push_back(-1);
        return times;
    }

private:
    TempDir dir_;
    std::vector<std::filesystem::path> paths_;
    std::vector<int> descriptors_;
};

// For files of this process, during the object's lifetime.
class FileLimit
{
public:
    explicit FileLimit(rlim_t bytes)
    {
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit = {bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
    FileLimit(const FileLimit &) = delete;
    FileLimit &operator=(const FileLimit &) = delete;

private:
    rlimit before_ = {};
};
} // namespace

TEST_CASE("a rotation is parsed, and the number of a file is placed before its extension",
          "[mapi-core][functions]")
{
    const auto rotation = parse_file_rotation("size=10k,time=90,files=12");
    REQUIRE(rotation);
    CHECK(rotation->bytes == 10000);
    CHECK(rotation->ns == 90000000000);
    CHECK(rotation->files == 12);
    CHECK(rotation->name("/a.b/found.pcap", 0) == "/a.b/found_01.pcap");
    CHECK(rotation->name("/a.b/found", 11) == "/a.b/found_12");
    CHECK(rotation->name(".found", 1) == ".found_02");
    CHECK(parse_file_rotation("files=2,time=500ms")->ns == 500000000);
    for (const char *wrong : {"", "files=2", "size=1", "size=,files=2", "size=1,files=2,",
                              ",size=1,files=2", "size=18446744073709551615k,files=2",
                              "time=18446744074,files=2", "size=1,files=99999999999999999999",
                              "size=-1,files=2", "size=1 ,files=2", "Size=1,files=2"})
        CHECK_FALSE(parse_file_rotation(wrong));
}

TEST_CASE("consecutive files of both formats are each a complete capture", "[mapi-core][functions]")
{
    const bool is_ng = GENERATE(false, true);
    const auto records = is_ng ? make_pcapng_records() : std::make_unique<PcapRecords>();
    Files files(3);
    PacketSink sink(files.descriptors(), {0, 10, 3}, is_ng ? view_pcapng_record : PcapRecords::view,
                    is_ng ? pcapng_record_bytes : PcapRecords::bytes);
    REQUIRE(sink.write(records->header(1, 65535), kNobodyGivesUp) == 0);
    for (size_t i = 0; i < 3; ++i)
        CHECK(files.times(i).empty());
    uint64_t written = 0;
    REQUIRE(sink.write_records(records_of(*records, {packet(5), packet(14), packet(15)}),
                               kNobodyGivesUp, written) == 0);
    CHECK(written == 3);
    REQUIRE(
        sink.write_records(records_of(*records, {packet(16), packet(30), packet(3), packet(50)}),
                           kNobodyGivesUp, written) == 0);
    CHECK(written == 4);
    CHECK(files.times(0) == std::vector<int64_t>{50});
    CHECK(files.times(1) == std::vector<int64_t>{15, 16});
    CHECK(files.times(2) == std::vector<int64_t>{30, 3}); // an earlier time does not end a file
}

TEST_CASE("a description that did not fit is written before the next packet",
          "[mapi-core][functions]")
{
    const auto records = make_pcapng_records();
    Files files(1);
    PacketSink sink(files.descriptors(), {}, view_pcapng_record, pcapng_record_bytes);
    REQUIRE(sink.write(records->header(1, 65535), kNobodyGivesUp) == 0);
    uint64_t written = 0;
    REQUIRE(sink.write_records(records_of(*records, {packet(1)}), kNobodyGivesUp, written) == 0);
    {
        const FileLimit limit(28 + 32 + 2 * 40 + 20); // one more packet, and half of a description
        CHECK(sink.write_records(
                  records_of(*records, {packet(2), packet(3, 101), packet(4, 113), packet(5)}),
                  kNobodyGivesUp, written) == EFBIG);
        CHECK(written == 1);
    }
    REQUIRE(sink.write_records(records_of(*records, {packet(6, 113), packet(7), packet(8, 101),
                                                     packet(9, 101, 1)}),
                               kNobodyGivesUp, written) == 0);
    CHECK(written == 4);
    CHECK(files.times(0) == std::vector<int64_t>{1, 2, 6, 7, 8, 9});
}

TEST_CASE("a file whose header did not fit gets it before its first packet",
          "[mapi-core][functions]")
{
    PcapRecords records;
    Files files(2);
    PacketSink sink(files.descriptors(), {30, 0, 2}, PcapRecords::view,
                    PcapRecords::bytes); // one packet per file
    uint64_t written = 0;
    const std::string header = records.header(1, 65535);
    {
        const FileLimit limit(10);
        CHECK(sink.write(header, kNobodyGivesUp) == EFBIG);
    }
    REQUIRE(sink.write(header, kNobodyGivesUp) == 0);
    REQUIRE(sink.write_records(records_of(records, {packet(1)}), kNobodyGivesUp, written) == 0);
    {
        const FileLimit limit(10);
        CHECK(sink.write_records(records_of(records, {packet(2)}), kNobodyGivesUp, written) ==
              EFBIG);
        CHECK(written == 0);
    }
    REQUIRE(sink.write_records(records_of(records, {packet(3)}), kNobodyGivesUp, written) == 0);
    CHECK(files.times(0) == std::vector<int64_t>{1});
    CHECK(files.times(1) == std::vector<int64_t>{3});
}
