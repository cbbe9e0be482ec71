// SPDX-License-Identifier: MIT
// Drops: every packet that does not reach a result is counted by mapi_stats() with its reason.
#include "support/catch.hpp"

#include <mapi/mapi.h>

#include "mapi-core/capture_builder.hpp"
#include "support/temp_dir.hpp"

using test_support::CaptureBuilder;
using test_support::TempDir;
using test_support::udp_frame;

namespace
{
struct Run {
    uint64_t passed;
    mapi_stat stats;
};

Run run(const std::string &path, const char *filter)
{
    char *device = mapi_create_offline_device(path.c_str(), MFF_PCAP);
    REQUIRE(device);
    const int fd = mapi_create_flow(device);
    REQUIRE(mapi_apply_function(fd, "BPF_FILTER", filter) > 0);
    const int counter = mapi_apply_function(fd, "PKT_COUNTER");
    mapi_connect(fd);
    mapi_start_offline_device(device);
    mapi_wait_flow(fd, -1);
    Run result = {};
    result.passed = *static_cast<uint64_t *>(mapi_read_results(fd, counter)->res);
    CHECK(mapi_stats(device, &result.stats) == 1);
    mapi_close_flow(fd);
    mapi_delete_offline_device(device);
    return result;
}
} // namespace

TEST_CASE("a filter evaluates each packet by its own link type", "[mapi-core][client]")
{
    const TempDir dir;
    const std::string frame = udp_frame(53, 53, "x");
    const std::string packet = frame.substr(14);
    CaptureBuilder capture;
    capture.section().interface(1).interface(101).interface(147); // Ethernet, raw IP, a private one
    for (int i = 0; i < 10; ++i)
        capture.enhanced(0, 1, frame, 60).enhanced(1, 1, packet, 40).enhanced(2, 1, packet, 40);
    const std::string path = capture.write(dir / "x.pcapng");

    const Run udp = run(path, "udp port 53");

    CHECK(udp.passed == 20);
    CHECK(udp.stats.ps_recv == 30);
    CHECK(udp.stats.drop_link_type == 10);
    CHECK(udp.stats.ps_drop == 10);
    CHECK(run(path, "len > 50").passed == 10);
}

TEST_CASE("a damaged file is distinguished from a truncated one, and what was read before is kept",
          "[mapi-core][client]")
{
    const TempDir dir;
    const std::string frame = udp_frame(53, 53, "x");
    CaptureBuilder capture;
    capture.pcap_header().pcap_record(frame, 60).pcap_record(frame, 60);
    CaptureBuilder cut;
    cut.text(capture.bytes().substr(0, capture.bytes().size() - 5));
    const Run short_one = run(cut.write(dir / "cut.pcap"), "udp");
    CHECK(short_one.passed == 1);
    CHECK(short_one.stats.drop_truncated == 1);
    CHECK(short_one.stats.drop_bad_record == 0);
    CHECK_THAT(std::string(short_one.stats.message), Catch::Contains("cut.pcap"));

    capture.u32(0).u32(0).u32(~0u).u32(~0u);
    const Run damaged = run(capture.write(dir / "bad.pcap"), "udp");
    CHECK(damaged.passed == 2);
    CHECK(damaged.stats.drop_bad_record == 1);
    CHECK(damaged.stats.drop_truncated == 0);
    CHECK(damaged.stats.unread_bytes == 16);
}
