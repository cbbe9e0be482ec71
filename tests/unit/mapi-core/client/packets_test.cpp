// SPDX-License-Identifier: MIT
// Packets of TO_BUFFER: several per call, and with a poll descriptor.
#include "support/catch.hpp"

#include <poll.h>

#include <mapi/mapi.h>

#include "mapi-core/capture_builder.hpp"
#include "support/temp_dir.hpp"

using test_support::CaptureBuilder;
using test_support::TempDir;
using test_support::udp_frame;

namespace
{
constexpr uint32_t kPackets = 1000;

// Packet i arrived in second 1000 + i.
struct Buffered {
    explicit Buffered(int mode)
    {
        CaptureBuilder capture;
        capture.pcap_header();
        for (uint32_t i = 0; i < kPackets; ++i)
            capture.pcap_record(udp_frame(2000, 53, "x"), 60, 1000 + i);
        device = mapi_create_offline_device(capture.write(dir / "capture.pcap").c_str(), MFF_PCAP);
        REQUIRE(device != nullptr);
        flow = mapi_create_flow(device);
        buffer = mapi_apply_function(flow, "TO_BUFFER", mode);
        REQUIRE(mapi_connect(flow) == 0);
    }
    ~Buffered()
    {
        mapi_close_flow(flow);
        mapi_delete_offline_device(device);
    }
    Buffered(const Buffered &) = delete;

    static uint32_t number_of(const mapipkt *packet)
    {
        return uint32_t(packet->ts >> 32) - 2208988800u - 1000u;
    }

    const TempDir dir;
    char *device = nullptr;
    int flow = -1, buffer = -1;
};
} // namespace

TEST_CASE("several packets are read per call, each once and in order, until there are no more",
          "[mapi-core][client]")
{
    Buffered buffered(WAIT);
    mapipkt *packets[64];
    CHECK(mapi_get_next_pkts(buffered.flow, buffered.buffer, packets, 64, 10) ==
          0); // nothing has been read yet
    REQUIRE(mapi_start_offline_device(buffered.device) == 0);
    uint32_t next = 0;
    for (int got;
         (got = mapi_get_next_pkts(buffered.flow, buffered.buffer, packets, 64, -1)) > 0;) {
        REQUIRE(got <= 64);
        for (int i = 0; i < got; ++i)
            REQUIRE(Buffered::number_of(packets[i]) == next++);
    }
    CHECK(next == kPackets);
    CHECK(mapi_get_next_pkts(buffered.flow, buffered.buffer, packets, 0, -1) == -1);
    CHECK(mapi_get_next_pkts(buffered.flow, buffered.buffer + 1, packets, 64, -1) == -1);
}

TEST_CASE("a poll descriptor signals packets and their end after a read has found none",
          "[mapi-core][client]")
{
    Buffered buffered(NOWAIT);
    pollfd event = {mapi_get_poll_descriptor(buffered.flow, buffered.buffer), POLLIN, 0};
    REQUIRE(event.fd >= 0);
    CHECK(mapi_get_poll_descriptor(buffered.flow, buffered.buffer) == event.fd);
    CHECK(poll(&event, 1, 0) == 1);
    CHECK(mapi_get_next_pkt(buffered.flow, buffered.buffer) == nullptr);
    CHECK(poll(&event, 1, 0) == 0);
    mapipkt *none[1];
    CHECK(mapi_get_next_pkts(buffered.flow, buffered.buffer, none, 1, 20) == 0);
    CHECK(poll(&event, 1, 0) == 0);
    REQUIRE(mapi_start_offline_device(buffered.device) == 0);
    uint32_t next = 0;
    mapi_flow_info_t info = {};
    while (info.status != FLOW_FINISHED || next < kPackets) {
        REQUIRE(poll(&event, 1, 10000) == 1);
        while (const mapipkt *packet = mapi_get_next_pkt(buffered.flow, buffered.buffer))
            REQUIRE(Buffered::number_of(packet) == next++);
        REQUIRE(mapi_get_flow_info(buffered.flow, &info) == 0);
    }
    CHECK(poll(&event, 1, 0) == 1); // the end stays signalled
}

TEST_CASE("a function whose results are not read one by one has no poll descriptor",
          "[mapi-core][client]")
{
    Buffered buffered(WAIT);
    const int flow = mapi_create_flow(buffered.device);
    const int counter = mapi_apply_function(flow, "PKT_COUNTER");
    REQUIRE(mapi_connect(flow) == 0);
    CHECK(mapi_get_poll_descriptor(flow, counter) == -1);
    CHECK(mapi_close_flow(flow) == 0);
}
