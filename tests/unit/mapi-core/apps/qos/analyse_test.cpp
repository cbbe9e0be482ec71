// SPDX-License-Identifier: MIT
#include "qos/analyse/analyse.hpp"

#include <cmath>

#include "simulated_link.hpp"
#include "support/catch.hpp"

namespace
{
using namespace qos_test;
using qos::analyse;
using qos::AnalyseOptions;

// A packet every 10 ms, each way; those whose number is a multiple of `loses` are lost.
SimulatedLink link_of(int packets, int loses)
{
    SimulatedLink link;
    for (int i = 1; i <= packets; ++i) {
        link.forward(i * 10 * kMs, i % loses == 0 ? -1 : 3 * kMs);
        link.backward(i * 10 * kMs, 4 * kMs);
    }
    return link;
}
} // namespace

TEST_CASE("each direction has its own figures", "[mapi-core][qos]")
{
    SimulatedLink link = link_of(100, 10);
    const auto found = analyse(link.seen(2 * kSecond), {});
    CHECK(found.forward.total.sent == 100);
    CHECK(found.forward.total.lost == 10);
    CHECK(found.forward.total.delays->max_ms == 3);
    CHECK(found.backward.total.sent == 100);
    CHECK(found.backward.total.lost == 0);
    CHECK(found.backward.total.delays->min_ms == 4);
    CHECK(found.notes().empty());
}

TEST_CASE("what a point cannot have seen is not lost", "[mapi-core][qos]")
{
    SimulatedLink link = link_of(100, 1000);
    link.forward(1990 * kMs, -1);
    link.forward(1999 * kMs, -1); // 3 ms on the way end after the points' time
    const auto found = analyse(link.seen(2 * kSecond), {});
    CHECK(found.forward.total.lost == 1);
    CHECK(found.forward.undecided == 1);
    AnalyseOptions options;
    options.is_all_time = true;
    CHECK(analyse(link.seen(2 * kSecond), options).forward.total.lost == 2);
}

TEST_CASE("equal packets within the window are left out and counted", "[mapi-core][qos]")
{
    SimulatedLink link = link_of(10, 1000);
    link.add_first(500, kMs, kForwardFlow);
    link.add_first(500, 900 * kMs, kForwardFlow);
    link.add_second(500, 4 * kMs, kForwardFlow);
    const auto found = analyse(link.seen(2 * kSecond), {});
    CHECK(found.forward.total.sent == 10);
    CHECK(found.ambiguous_packets == 1);
    CHECK(found.ambiguous_sightings == 3);
    CHECK(found.notes().front().starts_with("1 packet is left out, seen 3 times in all: "));
    AnalyseOptions options;
    options.window_ns = 100 * kMs;
    const auto apart = analyse(link.seen(2 * kSecond), options);
    CHECK(apart.forward.total.sent == 12);
    CHECK(apart.forward.total.lost == 1);
    CHECK(apart.ambiguous_packets == 0);
}

TEST_CASE("a digest that packets of two flows share is left out and counted", "[mapi-core][qos]")
{
    SimulatedLink link = link_of(10, 1000);
    link.add_first(500, kMs, kForwardFlow);
    link.add_second(500, 2 * kMs, kBackwardFlow);
    const auto found = analyse(link.seen(2 * kSecond), {});
    CHECK(found.collided_digests == 1);
    CHECK(found.collided_sightings == 2);
    CHECK(found.forward.total.lost == 0);
    CHECK(found.expected_collisions > 0);
    CHECK(found.expected_collisions < 1e-15);
}

TEST_CASE("packets that only the second point has seen are counted apart", "[mapi-core][qos]")
{
    SimulatedLink link = link_of(100, 1000);
    link.add_second(500, 700 * kMs, kForwardFlow);
    const auto found = analyse(link.seen(2 * kSecond), {});
    CHECK(found.forward.total.sent == 100);
    CHECK(found.forward.only_at_receiver == 1);
}

TEST_CASE("intervals begin at multiples of their length", "[mapi-core][qos]")
{
    SimulatedLink link = link_of(100, 10);
    AnalyseOptions options;
    options.interval_ns = kSecond / 2;
    const auto found = analyse(link.seen(2 * kSecond), options);
    REQUIRE(found.forward.intervals.size() == 3);
    CHECK(found.forward.intervals[0].begin_ns == kStart);
    CHECK(found.forward.intervals[0].measured.sent == 49);
    CHECK(found.forward.intervals[1].begin_ns == kStart + kSecond / 2);
    CHECK(found.forward.intervals[2].measured.sent == 1);
}

TEST_CASE("packets of equal sending times are not reordered", "[mapi-core][qos]")
{
    SimulatedLink link;
    link.forward(kMs, -1);
    for (const int64_t delay_ms : {5, 3, 4, 1, 2})
        link.forward(kMs, delay_ms * kMs);
    link.forward(2 * kMs, 5 * kMs);
    const auto found = analyse(link.seen(kSecond), {});
    CHECK(found.forward.total.sent == 7);
    CHECK(found.forward.total.lost == 1);
    CHECK(found.forward.total.reordered == 0);
}

TEST_CASE("nothing seen is no figures, without an error", "[mapi-core][qos]")
{
    SimulatedLink link;
    const auto found = analyse(link.seen(kSecond), {});
    CHECK(found.forward.total.sent == 0);
    CHECK(found.clock.is_synchronised);
    CHECK_FALSE(std::signbit(found.expected_collisions));
}

TEST_CASE("around a step of the second clock, delays are those of its other packets",
          "[mapi-core][qos]")
{
    for (const int64_t step_ns : {-700 * kMs, 700 * kMs}) {
        SimulatedLink link;
        link.clock_error = [=](int64_t time_ns) { return time_ns < 4005 * kMs ? 0 : step_ns; };
        for (int i = 1; i <= 1000; ++i) {
            link.forward(i * 10 * kMs, i % 50 == 0 ? -1 : 3 * kMs);
            link.backward(i * 10 * kMs, 3 * kMs);
        }
        const auto found = analyse(link.seen(11 * kSecond), {});
        REQUIRE(found.clock.steps.size() == 1);
        for (const auto *path : {&found.forward, &found.backward}) {
            CHECK(path->total.sent == 1000);
            REQUIRE(path->total.delays);
            CHECK(path->total.delays->min_ms > 2.9);
            CHECK(path->total.delays->max_ms < 3.1);
        }
        CHECK(found.forward.total.lost == 20);
        CHECK(found.backward.total.lost == 0);
    }
}
