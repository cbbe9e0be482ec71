// SPDX-License-Identifier: MIT
// Unpacker: captures packed with gzip, xz, zstd and bzip2 -> the original packets, also where the
// packed file is invalid.
#include "support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include <sys/stat.h>

#include <mapi/errors.h>

#include "drivers/catalog.hpp"
#include "drivers/unpack/compressor.hpp"
#include "mapi-core/capture_builder.hpp"
#include "mapi-core/drivers/erf_builder.hpp"
#include "mapi-core/drivers/read_capture.hpp"
#include "support/requires.hpp"
#include "support/temp_dir.hpp"

using test_support::CaptureBuilder;
using test_support::Erf;
using test_support::Outcome;
using test_support::Packet;
using test_support::read_capture;
using test_support::TempDir;

namespace
{
// Larger than the buffers, with packets that no program compresses well.
const std::string &plain()
{
    static const std::string bytes = [] {
        CaptureBuilder capture;
        capture.pcap_header();
        std::mt19937 random(1);
        for (uint32_t i = 0; i < 1000; ++i) {
            std::string data(random() % 1500, '\0');
            std::generate(data.begin(), data.end(), [&] { return char(random() % 20); });
            capture.pcap_record(data, 1500, i);
        }
        return capture.bytes();
    }();
    return bytes;
}

// Packs with the corresponding program; empty if this machine lacks it, or the build lacks its
// library.
std::string pack(const TempDir &dir, const std::string &tool, const std::string &bytes)
{
    const std::string to = dir / "packed";
    const std::string command = tool + " -c < " +
                                CaptureBuilder().text(bytes).write(dir / "to_pack") + " > " + to +
                                " 2> /dev/null";
    std::string packed;
    if (std::system(command.c_str()) == 0) {
        std::ostringstream all;
        all << std::ifstream(to, std::ios::binary).rdbuf();
        packed = all.str();
    }
    const auto *first = reinterpret_cast<const uint8_t *>(packed.data());
    const mapi::drivers::Compressor *compressor =
        mapi::drivers::find_compressor({first, packed.size()});
    if (compressor && compressor->make_decoder)
        return packed;
    test_support::skip(tool + ": not installed, or not supported by this build");
    return {};
}

Outcome read_bytes(const TempDir &dir, const std::string &bytes, uint64_t repeat = 1)
{
    return read_capture(mapi_driver_pcap_file, CaptureBuilder().text(bytes).write(dir / "x.packed"),
                        64, repeat);
}

bool begins_with(const std::vector<Packet> &whole, const std::vector<Packet> &part)
{
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}
} // namespace

TEST_CASE("a compressed capture gives the packets of the plain one", "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string tool = GENERATE("gzip", "xz", "zstd", "bzip2");
    const std::string packed = pack(dir, tool, plain());
    if (packed.empty())
        return;
    const Outcome outcome = read_bytes(dir, packed);
    CHECK((outcome.packets == read_bytes(dir, plain()).packets));
    CHECK(outcome.packets.size() == 1000);
    CHECK(outcome.last == 0);
    CHECK(outcome.stats.unread_bytes == 0);
    CHECK(std::string(outcome.stats.message).empty());
    CHECK(read_bytes(dir, packed, 3).packets.size() == 3000);
}

TEST_CASE("compressed pcapng and ERF are also read", "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string tool = GENERATE("gzip", "xz", "zstd", "bzip2");
    const std::string ng =
        pack(dir, tool, CaptureBuilder().section().interface(1).enhanced(0, 1, "abcd", 4).bytes());
    const std::string record = Erf{.frame = "abcd"}.bytes();
    const std::string erf = pack(dir, tool, record + record + record + record);
    if (ng.empty() || erf.empty())
        return;
    CHECK(read_bytes(dir, ng).packets.size() == 1);
    CHECK(read_capture(mapi_driver_erf_file, CaptureBuilder().text(erf).write(dir / "x.erf"))
              .packets.size() == 4);
}

TEST_CASE("data packed in parts is read as one, also with zeros between the parts",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string tool = GENERATE("gzip", "xz", "zstd", "bzip2");
    std::string packed;
    for (size_t at = 0, bytes = 1; at < plain().size(); at += bytes, bytes = bytes * 3 + 1)
        packed += pack(dir, tool, plain().substr(at, bytes)) + std::string(GENERATE(0u, 8u), '\0') +
                  pack(dir, tool, "");
    if (packed.empty())
        return;
    const Outcome outcome = read_bytes(dir, packed);
    CHECK(outcome.packets.size() == 1000);
    CHECK(outcome.last == 0);
}

TEST_CASE("trailing data that is not packed is reported", "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string tool = GENERATE("gzip", "xz", "zstd", "bzip2");
    const std::string packed = pack(dir, tool, plain());
    if (packed.empty())
        return;
    const Outcome outcome = read_bytes(dir, packed + "not packed at all");
    CHECK(outcome.packets.size() == 1000);
    CHECK(outcome.last == -1);
    CHECK_THAT(std::string(outcome.stats.message),
               Catch::Contains("x.packed: " + tool + ", offset ") && Catch::Contains("damaged"));
}

TEST_CASE("a truncated packed file gives what is complete before the end, and says so",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string tool = GENERATE("gzip", "xz", "zstd", "bzip2");
    const std::string packed = pack(dir, tool, plain());
    if (packed.empty())
        return;
    const std::vector<Packet> wanted = read_bytes(dir, plain()).packets;
    size_t packets = 0;
    for (size_t size = 6; size < packed.size(); size += size < 20 ? 1 : packed.size() / 40) {
        const Outcome outcome = read_bytes(dir, packed.substr(0, size));
        const std::string text = outcome.open_text + outcome.stats.message;
        INFO("cut at " << size << " of " << packed.size() << ": " << text);
        CHECK(begins_with(wanted, outcome.packets));
        CHECK(outcome.packets.size() >= packets); // the longer the file, the more is read
        CHECK_THAT(text,
                   Catch::Contains("x.packed: " + tool + ", offset " + std::to_string(size) +
                                   " of the compressed file: the compressed data is truncated"));
        CHECK(outcome.stats.truncated_records == (outcome.open_error == 0));
        packets = outcome.packets.size();
    }
    CHECK(packets > (tool == "bzip2" ? 0 : 500)); // bzip2 gives nothing before a block of 900 kB
}

TEST_CASE("a packed file with wrong bytes always ends with a message", "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string tool = GENERATE("gzip", "xz", "zstd", "bzip2");
    const std::string small = CaptureBuilder().text(plain().substr(0, 20000)).bytes();
    const std::string packed = pack(dir, tool, small);
    if (packed.empty())
        return;
    const Outcome right = read_bytes(dir, small);
    std::mt19937 random(3);
    size_t reported = 0;
    for (int round = 0; round < 400; ++round) {
        std::string bytes = packed;
        bytes[random() % bytes.size()] ^= char(1 << random() % 8);
        const Outcome outcome = read_bytes(dir, bytes);
        const bool is_reported =
            outcome.open_error || (outcome.last == -1 && *outcome.stats.message);
        if (!is_reported) // a time or a name that gzip stores, for example
            REQUIRE((outcome.packets == right.packets));
        reported += is_reported;
    }
    CHECK(reported > 300);
}

TEST_CASE("a capture damaged before packing is reported with the position in the unpacked data",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string tool = GENERATE("gzip", "xz", "zstd", "bzip2");
    const std::string packed = pack(dir, tool,
                                    CaptureBuilder()
                                        .pcap_header()
                                        .pcap_record("good", 4)
                                        .u32(1)
                                        .u32(0)
                                        .u32(262145)
                                        .u32(60)
                                        .bytes());
    if (packed.empty())
        return;
    const Outcome outcome = read_bytes(dir, packed);
    CHECK(outcome.packets.size() == 1);
    CHECK(outcome.stats.bad_records == 1);
    CHECK_THAT(std::string(outcome.stats.message),
               Catch::Contains("x.packed: offset 44 of the unpacked data: a record claims 262145"));
}

TEST_CASE("a file that asks for more memory than allowed is refused with a remedy",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    std::string bytes, tool;
    SECTION("xz with a dictionary of 512 MiB")
    {
        tool = "xz";
        bytes = std::string("\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x22"
                            "\x00\x00\x00\x82\x40\xac\xdc",
                            24) +
                std::string(100, '\1');
    }
    SECTION("zstd with a window of 1 GiB")
    {
        tool = "zstd";
        bytes = std::string("\x28\xb5\x2f\xfd\x00\xa0", 6) + std::string(100, '\1');
    }
    if (pack(dir, tool, "x").empty())
        return;
    CHECK_THAT(read_bytes(dir, bytes).open_text,
               Catch::Contains(
                   "more than 128 MiB of memory are required (unpack it first: " + tool + "cat"));
}

TEST_CASE("a compressor that this build does not support is refused with a remedy",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    CHECK_THAT(read_bytes(dir, "\x04\x22\x4d\x18 packed by lz4").open_text,
               Catch::Contains("is compressed with lz4") && Catch::Contains("lz4cat FILE"));
}

TEST_CASE("a compressed capture is read through a pipe", "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string packed = pack(dir, "gzip", plain());
    if (packed.empty())
        return;
    const std::string path = dir / "pipe";
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    std::thread writer([&] {
        std::ofstream out(path, std::ios::binary);
        for (size_t at = 0; at < packed.size(); at += 1000)
            out.write(packed.data() + at,
                      std::streamsize(std::min<size_t>(1000, packed.size() - at)))
                .flush();
    });
    const Outcome outcome = read_capture(mapi_driver_pcap_file, path);
    writer.join();
    CHECK(outcome.packets.size() == 1000);
    CHECK(outcome.last == 0);
}
