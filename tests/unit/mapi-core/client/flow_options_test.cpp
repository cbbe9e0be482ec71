// SPDX-License-Identifier: MIT
// Options of a flow: their values after they were set, and what its buffers keep of packets.
#include "support/catch.hpp"

#include <string>

#include <mapi/mapi.h>

#include "mapi-core/capture_builder.hpp"
#include "support/temp_dir.hpp"

using test_support::CaptureBuilder;
using test_support::TempDir;
using test_support::udp_frame;

namespace
{
constexpr uint32_t kPackets = 1000;

struct OfCapture {
    explicit OfCapture(size_t payload_bytes = 1000)
    {
        CaptureBuilder capture;
        capture.pcap_header();
        const std::string frame = udp_frame(2000, 53, std::string(payload_bytes, 'x'));
        frame_bytes = uint32_t(frame.size());
        for (uint32_t i = 0; i < kPackets; ++i)
            capture.pcap_record(frame, frame_bytes, 1000 + i);
        flow = mapi_create_offline_flow(capture.write(dir / "capture.pcap").c_str(), MFF_PCAP);
        REQUIRE(flow > 0);
    }
    ~OfCapture() { mapi_close_flow(flow); }
    OfCapture(const OfCapture &) = delete;

    uint64_t option(int number) const
    {
        uint64_t value = ~uint64_t(0);
        REQUIRE(mapi_get_flow_option(flow, number, &value) == 0);
        return value;
    }
    // Packets that did not fit in a buffer that no program reads.
    uint64_t dropped_of(int buffer) const
    {
        mapi_function_info_t info = {};
        REQUIRE(mapi_get_function_info(flow, buffer, &info) == 0);
        return info.dropped;
    }

    const TempDir dir;
    uint32_t frame_bytes = 0;
    int flow = -1;
};

int last_error()
{
    int number = 0;
    mapi_read_error(&number, nullptr);
    return number;
}
} // namespace

TEST_CASE("options of a flow start at 0, and a buffer size is rounded up to a power of two",
          "[mapi-core][client]")
{
    OfCapture capture;
    CHECK(capture.option(MAPI_BUFFER_BYTES) == 0);
    CHECK(capture.option(MAPI_SNAP_BYTES) == 0);
    REQUIRE(mapi_set_flow_option(capture.flow, MAPI_BUFFER_BYTES, 70000) == 0);
    REQUIRE(mapi_set_flow_option(capture.flow, MAPI_SNAP_BYTES, 70000) == 0);
    CHECK(capture.option(MAPI_BUFFER_BYTES) == 131072);
    CHECK(capture.option(MAPI_SNAP_BYTES) == 70000);
}

TEST_CASE("unknown options and invalid values are refused and change nothing",
          "[mapi-core][client]")
{
    OfCapture capture;
    REQUIRE(mapi_set_flow_option(capture.flow, MAPI_BUFFER_BYTES, MAPI_BUFFER_BYTES_LEAST) == 0);
    for (const uint64_t bytes : {uint64_t(1), uint64_t(MAPI_BUFFER_BYTES_LEAST) - 1,
                                 uint64_t(MAPI_BUFFER_BYTES_MOST) + 1, ~uint64_t(0)}) {
        CHECK(mapi_set_flow_option(capture.flow, MAPI_BUFFER_BYTES, bytes) == -1);
        CHECK(last_error() == MFUNCT_INVALID_ARGUMENT_3);
    }
    CHECK(mapi_set_flow_option(capture.flow, MAPI_SNAP_BYTES, uint64_t(1) << 32) == -1);
    CHECK(mapi_set_flow_option(capture.flow, MAPI_IN_ENGINE, 2) == -1);
    CHECK(capture.option(MAPI_BUFFER_BYTES) == MAPI_BUFFER_BYTES_LEAST);
    for (const int unknown : {0, 4, -1}) {
        uint64_t value = 0;
        CHECK(mapi_set_flow_option(capture.flow, unknown, 1) == -1);
        CHECK(mapi_get_flow_option(capture.flow, unknown, &value) == -1);
        CHECK(last_error() == MFUNCT_INVALID_ARGUMENT_2);
    }
    CHECK(mapi_get_flow_option(capture.flow, MAPI_SNAP_BYTES, nullptr) == -1);
    CHECK(mapi_set_flow_option(capture.flow + 1, MAPI_SNAP_BYTES, 1) == -1);
}

TEST_CASE("options of a connected flow can be read but not set", "[mapi-core][client]")
{
    OfCapture capture;
    REQUIRE(mapi_set_flow_option(capture.flow, MAPI_SNAP_BYTES, 60) == 0);
    REQUIRE(mapi_apply_function(capture.flow, "PKT_COUNTER") > 0);
    REQUIRE(mapi_connect(capture.flow) == 0);
    CHECK(mapi_set_flow_option(capture.flow, MAPI_SNAP_BYTES, 61) == -1);
    CHECK(last_error() == MDLIB_NO_MODIFYING);
    CHECK(capture.option(MAPI_SNAP_BYTES) == 60);
}

TEST_CASE("a buffer keeps as many bytes of a packet as the flow's option said when it was applied",
          "[mapi-core][client]")
{
    OfCapture capture;
    REQUIRE(mapi_set_flow_option(capture.flow, MAPI_SNAP_BYTES, 60) == 0);
    const int cut = mapi_apply_function(capture.flow, "TO_BUFFER", WAIT);
    REQUIRE(mapi_set_flow_option(capture.flow, MAPI_SNAP_BYTES, 0) == 0);
    const int whole = mapi_apply_function(capture.flow, "TO_BUFFER", WAIT);
    REQUIRE(mapi_connect(capture.flow) == 0);
    const mapipkt *packet = mapi_get_next_pkt(capture.flow, cut);
    REQUIRE(packet);
    CHECK(packet->caplen == 60);
    CHECK(packet->wlen == capture.frame_bytes);
    packet = mapi_get_next_pkt(capture.flow, whole);
    REQUIRE(packet);
    CHECK(packet->caplen == capture.frame_bytes);
    CHECK(packet->wlen == capture.frame_bytes);
}

TEST_CASE("a buffer is as large as the flow's option says", "[mapi-core][client]")
{
    OfCapture capture;
    REQUIRE(mapi_set_flow_option(capture.flow, MAPI_BUFFER_BYTES, 65536) == 0);
    const int small = mapi_apply_function(capture.flow, "TO_BUFFER", NOWAIT);
    REQUIRE(mapi_set_flow_option(capture.flow, MAPI_BUFFER_BYTES, 1 << 21) == 0);
    const int large = mapi_apply_function(capture.flow, "TO_BUFFER", NOWAIT);
    REQUIRE(mapi_connect(capture.flow) == 0);
    REQUIRE(mapi_wait_flow(capture.flow, -1) == 0);
    const uint64_t fit = 65536 / (capture.frame_bytes + 28);
    CHECK(capture.dropped_of(small) >= kPackets - fit);
    CHECK(capture.dropped_of(small) <= kPackets - fit / 2);
    CHECK(capture.dropped_of(large) == 0);
}
