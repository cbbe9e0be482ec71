// SPDX-License-Identifier: MIT
// The memory that a capture file makes a driver use is counted, and reading ends when none is left.
#include "drivers/bytes/memory_quota_use.hpp"

#include <cstdlib>

#include "drivers/catalog.hpp"
#include "engine/memory/driver_memory.hpp"
#include "mapi-core/capture_builder.hpp"
#include "mapi-core/drivers/read_capture.hpp"
#include "support/catch.hpp"
#include "support/requires.hpp"
#include "support/temp_dir.hpp"

using mapi::drivers::MemoryQuotaUse;
using mapi::engine::DriverMemory;
using mapi::engine::Quota;
using test_support::CaptureBuilder;
using test_support::Outcome;
using test_support::read_capture;
using test_support::TempDir;

namespace
{
constexpr uint32_t kMib = 1 << 20;
constexpr uint16_t kDbus = 231; // packets of up to 128 MiB

struct Limited {
    explicit Limited(uint64_t bytes)
        : quota(std::make_shared<Quota>(bytes, "--limit")), memory(quota)
    {
    }
    Outcome read(const std::string &path) const
    {
        return read_capture(mapi_driver_pcap_file, path, 64, 1, SIZE_MAX, &memory.calls());
    }

    const std::shared_ptr<Quota> quota;
    const DriverMemory memory;
};

std::string capture_with_a_long_packet(const TempDir &dir)
{
    return CaptureBuilder()
        .pcap_header(0xa1b2c3d4, 16 * kMib, kDbus)
        .pcap_record("short", 5)
        .pcap_record(std::string(6 * kMib, 'x'), 6 * kMib)
        .write(dir / "x.pcap");
}
} // namespace

TEST_CASE("a claim takes its growth and returns everything", "[mapi-core][drivers]")
{
    const Limited limited(100);
    {
        MemoryQuotaUse claim(&limited.memory.calls()), uncounted(nullptr);
        CHECK(claim.resize(60));
        CHECK_FALSE(claim.resize(101));
        CHECK(claim.resize(100));
        CHECK(claim.resize(10));
        CHECK(limited.quota->used() == 10);
        CHECK(uncounted.resize(UINT64_MAX));
    }
    CHECK(limited.quota->used() == 0);
}

TEST_CASE("a capture for which no memory is left is not opened", "[mapi-core][drivers]")
{
    const TempDir dir;
    const Limited limited(kMib);
    const Outcome outcome = limited.read(capture_with_a_long_packet(dir));
    CHECK(outcome.open_error == MAPI_LIMIT_REACHED);
    CHECK_THAT(outcome.open_text, Catch::Contains("x.pcap: ") && Catch::Contains("(--limit)"));
    CHECK(limited.quota->used() == 0);
}

TEST_CASE("a packet for which no memory is left ends its capture with an error after earlier ones",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string path = capture_with_a_long_packet(dir);
    const Limited little(5 * kMib), enough(16 * kMib);
    const Outcome ended = little.read(path);
    CHECK(ended.packets.size() == 1);
    CHECK(ended.last == -1);
    CHECK_THAT(std::string(ended.stats.message),
               Catch::Contains("MiB of memory are required") && Catch::Contains("(--limit)"));
    CHECK(ended.stats.unread_bytes > 5 * kMib);
    CHECK(enough.read(path).packets.size() == 2);
    CHECK(little.quota->used() + enough.quota->used() == 0);
}

TEST_CASE("unpacking a capture is charged for as much memory as the packed file asks for",
          "[mapi-core][drivers]")
{
    const TempDir dir;
    const std::string tool = GENERATE("xz --lzma2=dict=64MiB", "zstd -q --long=26");
    const std::string plain = capture_with_a_long_packet(dir), packed = dir / "packed";
    if (std::system((tool + " -c < " + plain + " > " + packed + " 2> /dev/null").c_str()) != 0 ||
        read_capture(mapi_driver_pcap_file, packed).open_error) {
        test_support::skip(tool + ": not installed, or not supported by this build");
        return;
    }
    const Limited little(30 * kMib), enough(100 * kMib);
    const Outcome refused = little.read(packed);
    CHECK((refused.open_error == MAPI_LIMIT_REACHED || refused.last == -1));
    CHECK_THAT(refused.open_text + refused.stats.message,
               Catch::Contains("MiB of memory are required"));
    CHECK(enough.read(packed).packets.size() == 2);
    CHECK(little.quota->used() + enough.quota->used() == 0);
}
