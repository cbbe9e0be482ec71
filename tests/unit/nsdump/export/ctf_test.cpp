// SPDX-License-Identifier: MIT
#include "export/ctf/ctf_stream.hpp"

#include <cstring>

#include "export/ctf/ctf_clock.hpp"
#include "export/ctf/ctf_metadata.hpp"
#include "export/export_support.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"

using namespace nsdump;

namespace
{
struct Packet {
    uint64_t begin_ticks, end_ticks, bits, lost;
    size_t bytes;
};

struct Packets {
    std::vector<Packet> all;
    CtfStream stream{
        {}, [this](std::string_view bytes) {
            uint64_t context[6]; // after magic, uuid and stream id
            std::memcpy(context, bytes.data() + 24, sizeof context);
            all.push_back({context[0], context[1], context[2], context[5], bytes.size()});
        }};

    void add(uint64_t ticks) { stream.add({ticks, 1, 1, NSLICE_KIND_START, 0, nullptr, 0}); }
};
} // namespace

TEST_CASE("a loss lies between two packets", "[nsdump][ctf]")
{
    Packets packets;
    packets.add(10);
    packets.add(20);
    packets.stream.set_lost(5);
    packets.add(30);
    packets.stream.finish();
    REQUIRE(packets.all.size() == 2);
    CHECK(packets.all[0].begin_ticks == 10);
    CHECK(packets.all[0].end_ticks == 20);
    CHECK(packets.all[0].lost == 0);
    CHECK(packets.all[1].begin_ticks == 30);
    CHECK(packets.all[1].lost == 5);
    CHECK(packets.all[1].bits == packets.all[1].bytes * 8);
}

TEST_CASE("a loss before the first event and one after the last have empty packets around them",
          "[nsdump][ctf]")
{
    Packets packets;
    packets.stream.set_lost(2);
    packets.add(10);
    packets.stream.set_lost(7);
    packets.stream.finish();
    REQUIRE(packets.all.size() == 3);
    CHECK(packets.all[0].lost == 0);
    CHECK(packets.all[0].begin_ticks == 10);
    CHECK(packets.all[1].lost == 2);
    CHECK(packets.all[2].lost == 7);
    CHECK(packets.all[2].bytes == packets.all[0].bytes);
}

TEST_CASE("a clock that goes back is held and counted", "[nsdump][ctf]")
{
    Packets packets;
    packets.add(10);
    packets.add(7);
    packets.stream.finish();
    CHECK(packets.all.at(0).end_ticks == 10);
    CHECK(packets.stream.ticks_back() == 1);
}

TEST_CASE("the first calibration is at the time at which the file was created", "[nsdump][ctf]")
{
    test_support::TraceBuilder trace;
    trace.info(test_support::plain_info(2e9));
    trace.calibration(NSLICE_CALIBRATION_START, 5'000'000'123, 0, {});
    const TraceFile file(test_support::source_of(trace.bytes()));
    const CtfClock clock = ctf_clock_of(file);
    REQUIRE(clock.hz == 2'000'000'000);
    CHECK(clock.offset < clock.hz);
    const uint64_t created_ns = file.header().created_unix_ns;
    REQUIRE(created_ns > 0);
    const auto ticks =
        static_cast<__int128>(clock.offset_s) * clock.hz + clock.offset + 5'000'000'123;
    CHECK(uint64_t(ticks / 2) == created_ns);
}

TEST_CASE("the first calibration is at the session's start if the trace has it", "[nsdump][ctf]")
{
    test_support::TraceBuilder trace;
    trace.info(test_support::plain_info(1e9) + "session.start_unix_ns=1795953600000000000\n");
    trace.calibration(NSLICE_CALIBRATION_START, 5'000'000'123, 0, {});
    const TraceFile file(test_support::source_of(trace.bytes()));
    const CtfClock clock = ctf_clock_of(file);
    CHECK(clock.offset_s * 1'000'000'000 + int64_t(clock.offset) + 5'000'000'123 ==
          1'795'953'600'000'000'000);
}

TEST_CASE("a rate that no clock has is unknown", "[nsdump][ctf]")
{
    for (const double hz : {0.0, 1e-9, 1e300}) {
        test_support::TraceBuilder trace;
        trace.info(test_support::plain_info(hz));
        const TraceFile file(test_support::source_of(trace.bytes()));
        CHECK_FALSE(ctf_clock_of(file).is_rate_known);
        CHECK(ctf_clock_of(file).hz == 1'000'000'000);
    }
}

TEST_CASE("the metadata name sites, counters and causes of losses", "[nsdump][ctf]")
{
    TraceFile trace(test_support::source_of(test_support::varied_trace()));
    trace.names().of_slice(77); // an id without a site
    const std::string text = ctf_metadata(trace, ctf_clock_of(trace), losses_of(trace, false));
    using Catch::Matchers::Contains;
    CHECK_THAT(text, Contains("\"rx,\\\"1\\\"\" = 2"));
    CHECK_THAT(text, Contains("\"#77\" = 77"));
    CHECK_THAT(text, Contains("counter_0 = \"INSTRUCTIONS\";"));
    CHECK_THAT(text, Contains("lost_full = 2;"));
    CHECK_THAT(text, !Contains("stream_id = 1;")); // no records of the kernel
}
