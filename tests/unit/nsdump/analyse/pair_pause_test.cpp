// SPDX-License-Identifier: MIT
#include "pair_fixture.hpp"
#include "support/catch.hpp"

using namespace pair_fixture;
using nsdump::Order;

TEST_CASE("a slice around a pause spans a loss, wherever its thread was before", "[nsdump][pair]")
{
    const Order order = GENERATE(Order::kTime, Order::kThread);
    auto trace = new_trace("I");
    trace.start(0, 1, 1, 100, {5});
    trace.mark(1, 2, 5, 110, 0);
    trace.leave_out(2); // the STOP of this a, and the START of the next
    trace.stop(1, 1, 1, 200, {9});
    trace.mark(0, 3, 5, 300, 0);
    const Paired out = pair(trace, order);
    REQUIRE(out.slices.size() == 1);
    CHECK(out.slices[0].is_migrated);
    CHECK(out.slices[0].spans_loss);
}

TEST_CASE("a slice whose STOP was left out does not stay open on another CPU", "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.start(0, 1, 1, 100);
    trace.leave_out(1);
    trace.start(1, 1, 1, 200);
    trace.stop(1, 1, 1, 210);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 1);
    CHECK(out.slices[0].depth == 0);
    CHECK_FALSE(out.slices[0].spans_loss);
    CHECK(out.a.unmatched_start == 1);
}

TEST_CASE("a slice that begins after a pause is whole, whenever other CPUs write their next record",
          "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.mark(0, 1, 5, 100, 0); // thread 1 has been on both CPUs
    trace.mark(1, 1, 5, 110, 0);
    trace.mark(2, 2, 5, 120, 0);
    trace.leave_out(7);
    trace.start(1, 1, 1, 200);
    trace.mark(2, 2, 5, 250, 0);
    trace.mark(0, 3, 5, 260, 0);
    trace.stop(1, 1, 1, 300);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 1);
    CHECK_FALSE(out.slices[0].spans_loss);
}

TEST_CASE("a loss after a pause still marks the slices of its CPU", "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.mark(0, 1, 5, 100, 0);
    trace.leave_out(7);
    trace.start(0, 1, 1, 200);
    trace.start(1, 2, 1, 210);
    trace.lose(0, NSLICE_LOST_FULL, 1);
    trace.stop(0, 1, 1, 300);
    trace.stop(1, 2, 1, 310);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 2);
    CHECK(out.slices[0].spans_loss);
    CHECK_FALSE(out.slices[1].spans_loss);
}

TEST_CASE("a unit ends at a pause: what follows may be in another", "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.init(0, 1, 4, 100, 1, 64, 0);
    trace.start(0, 1, 1, 110);
    trace.stop(0, 1, 1, 120);
    trace.leave_out(2); // the EXIT of unit 1, and the INIT of unit 2
    trace.start(0, 1, 1, 210);
    trace.stop(0, 1, 1, 220);
    trace.exit(0, 1, 4, 230);
    trace.init(0, 1, 4, 300, 3, 64, 0);
    trace.leave_out(2); // with nothing open but the unit
    trace.start(0, 1, 1, 410);
    trace.stop(0, 1, 1, 420);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 3);
    CHECK(out.slices[0].unit == 1);
    CHECK(out.slices[1].unit == -1);
    CHECK(out.slices[2].unit == -1);
    CHECK(out.units == 2);
}
