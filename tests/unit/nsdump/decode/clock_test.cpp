// SPDX-License-Identifier: MIT
#include "decode/clock.hpp"

#include "nsdump_support.hpp"
#include "support/catch.hpp"

using test_support::source_of;
using test_support::TraceBuilder;

TEST_CASE("the clock's rate is derived from the pairs at start and end", "[nsdump][clock]")
{
    TraceBuilder trace;
    trace.info("clock.source=tsc\nclock.mode=ordered\nclock.hz=2000000000\n");
    trace.calibration(NSLICE_CALIBRATION_START, 1000, 500, {}, 26, 22.5);
    trace.footer(NSLICE_END_CLOSED, 1000 + 2'500'000'000, 500 + 1'000'000'000);
    const nsdump::Clock clock = nsdump::clock_of(nsdump::TraceFile(source_of(trace.bytes())));
    CHECK(clock.hz == 2.5e9);
    CHECK(clock.ns(2.5) == 1);
    CHECK(clock.mode == "ordered");
    CHECK(clock.step_ticks == 26);
    CHECK(clock.read_ticks == 22.5);
    CHECK(clock.start_ticks == 1000);
}

TEST_CASE("pairs too close together do not replace the writer's estimate", "[nsdump][clock]")
{
    TraceBuilder trace;
    trace.info("clock.hz=2000000000\n");
    trace.calibration(NSLICE_CALIBRATION_START, 1000, 500, {});
    trace.calibration(NSLICE_CALIBRATION_END, 1000 + 900, 500 + 300, {});
    CHECK(nsdump::clock_of(nsdump::TraceFile(source_of(trace.bytes()))).hz == 2e9);
}

TEST_CASE("ticks of a time begin at the start and end at the largest number", "[nsdump][clock]")
{
    nsdump::Clock clock;
    clock.hz = 2.5e9;
    CHECK(nsdump::ticks_at(10, clock, 1000) == 1025);
    CHECK(nsdump::ticks_at(0.5, clock, 1000) == 1001); // rounded
    CHECK(nsdump::ticks_at(-10, clock, 1000) == 1000);
    CHECK(nsdump::ticks_at(9e18, clock, ~uint64_t{0} - 5) == ~uint64_t{0});
    CHECK(nsdump::ticks_in(10, clock) == 25);
    CHECK(nsdump::ticks_in(1e300, clock) == uint64_t{1} << 62);
    CHECK(nsdump::ticks_in(10, nsdump::Clock{}) == 0);
}

TEST_CASE("if nothing is known about the rate, it is unknown, not invented", "[nsdump][clock]")
{
    TraceBuilder trace;
    trace.info("clock.hz=nonsense\n");
    CHECK(nsdump::clock_of(nsdump::TraceFile(source_of(trace.bytes()))).hz == 0);
}
