// SPDX-License-Identifier: MIT
#include "qos/analyse/clock.hpp"

#include <cmath>
#include <random>

#include "simulated_link.hpp"
#include "support/catch.hpp"

namespace
{
using namespace qos_test;
using qos::ClockWish;

bool is_near(double found, double wanted, double distance)
{
    return std::abs(found - wanted) < distance;
}

// 100 s of packets, both ways or only forward; the shortest delay of each direction is 8 ms.
SimulatedLink busy_link(bool is_both_ways, const std::function<int64_t(int64_t)> &clock_error)
{
    SimulatedLink link;
    link.clock_error = clock_error;
    std::mt19937 random(7);
    std::exponential_distribution<double> queue(1.0 / double(kMs));
    for (int i = 0; i < 5000; ++i) {
        const int64_t time_ns = i * 20 * kMs;
        link.forward(time_ns, 8 * kMs + int64_t(queue(random)));
        if (is_both_ways)
            link.backward(time_ns + 5 * kMs, 8 * kMs + int64_t(queue(random)));
    }
    return link;
}

qos::ClockModel clock_of(SimulatedLink &link, ClockWish wish = ClockWish::kDetect,
                         bool is_one_way = false)
{
    const auto &seen = link.seen(101 * kSecond);
    const auto matches = qos::match(seen);
    const auto samples = qos::clock_samples(matches);
    const auto directions = qos::find_directions(seen, matches, samples,
                                                 {is_one_way, wish == ClockWish::kUnsynchronised});
    CHECK_FALSE(directions.is_assumed);
    CHECK(directions.of_flow[kForwardFlow] == qos::Direction::kForward);
    CHECK(directions.of_flow[kBackwardFlow] ==
          (is_one_way ? qos::Direction::kForward : qos::Direction::kBackward));
    return qos::find_clock(samples, directions, wish);
}
} // namespace

TEST_CASE("clocks without negative delays are taken to be synchronised", "[mapi-core][qos]")
{
    SimulatedLink link = busy_link(true, [](int64_t) { return 2 * kMs; });
    const auto clock = clock_of(link);
    CHECK(clock.is_synchronised);
    CHECK(clock.offset_ns(kStart) == 0);
}

TEST_CASE("offset and drift are estimated from both directions", "[mapi-core][qos]")
{
    for (const int64_t offset_s : {5, -5, 86400}) {
        SimulatedLink link =
            busy_link(true, [=](int64_t time_ns) { return offset_s * kSecond + time_ns / 20000; });
        const auto clock = clock_of(link);
        REQUIRE_FALSE(clock.is_synchronised);
        CHECK(clock.has_both_directions);
        CHECK(clock.steps.empty());
        REQUIRE(clock.pieces.size() == 1);
        CHECK(is_near(clock.pieces[0].drift, 50e-6, 1e-6));
        for (const int64_t time_s : {0, 50, 100})
            CHECK(is_near(clock.offset_ns(kStart + time_s * kSecond),
                          double(offset_s * kSecond + time_s * kSecond / 20000), 0.05 * kMs));
    }
}

TEST_CASE("with one direction, the shortest delay becomes zero", "[mapi-core][qos]")
{
    SimulatedLink link =
        busy_link(false, [](int64_t time_ns) { return -3 * kSecond - time_ns / 10000; });
    const auto clock = clock_of(link, ClockWish::kUnsynchronised, true);
    REQUIRE(clock.pieces.size() == 1);
    CHECK_FALSE(clock.has_both_directions);
    CHECK(is_near(clock.pieces[0].drift, -100e-6, 1e-6));
    CHECK(is_near(clock.offset_ns(kStart), double(-3 * kSecond + 8 * kMs), 0.05 * kMs));
}

TEST_CASE("a step of a clock is found, and each side of it has its own offset", "[mapi-core][qos]")
{
    for (const int64_t step_ns : {-300 * kMs, 300 * kMs}) {
        SimulatedLink link =
            busy_link(true, [=](int64_t time_ns) { return time_ns < 40100 * kMs ? 0 : step_ns; });
        const auto clock = clock_of(link);
        REQUIRE(clock.steps.size() == 1);
        CHECK(is_near(clock.steps[0].step_ns, double(step_ns), double(kMs)));
        CHECK(is_near(double(clock.steps[0].time_ns - kStart), 40100.0 * kMs, 50.0 * kMs));
        CHECK(is_near(clock.offset_ns(kStart + kSecond), 0, 0.1 * kMs));
        CHECK(is_near(clock.offset_ns(kStart + 90 * kSecond), double(step_ns), 0.1 * kMs));
    }
}

TEST_CASE("a step is found although only a few packets are behind it", "[mapi-core][qos]")
{
    for (const int64_t step_ns : {-300 * kMs, 300 * kMs}) {
        for (const int packets : {3, 8, 20, 50}) {
            const int64_t at_ns = (5000 - packets) * 20 * kMs;
            SimulatedLink link =
                busy_link(true, [=](int64_t time_ns) { return time_ns < at_ns ? 0 : step_ns; });
            const auto clock = clock_of(link);
            REQUIRE(clock.steps.size() == 1);
            CHECK(is_near(clock.steps[0].step_ns, double(step_ns), 3.0 * kMs));
            CHECK(is_near(double(clock.steps[0].time_ns - kStart), double(at_ns), 50.0 * kMs));
        }
    }
}

TEST_CASE("a wrong match or two are no step", "[mapi-core][qos]")
{
    for (const int64_t at_ns : {50 * kSecond, 99980 * kMs}) {
        SimulatedLink link = busy_link(true, [](int64_t) { return 0; });
        link.add_first(1000000, at_ns, kForwardFlow);
        link.add_second(1000000, at_ns - 400 * kMs, kForwardFlow);
        CHECK(clock_of(link).is_synchronised);
    }
}

TEST_CASE("a step is found although most packets of one direction come before it, and most of the "
          "other behind it",
          "[mapi-core][qos]")
{
    for (const int64_t step_ns : {-300 * kMs, 300 * kMs}) {
        SimulatedLink link;
        link.clock_error = [=](int64_t time_ns) { return time_ns < 40100 * kMs ? 0 : step_ns; };
        for (int i = 0; i < 5000; ++i) {
            const int64_t time_ns = i * 20 * kMs;
            const bool is_before = time_ns < 40100 * kMs;
            if (!is_before || i % 8 == 0)
                link.forward(time_ns, 8 * kMs + i % 7 * 100000);
            if (is_before || i % 8 == 0)
                link.backward(time_ns + 5 * kMs, 8 * kMs + i % 5 * 100000);
        }
        const auto clock = clock_of(link);
        REQUIRE(clock.steps.size() == 1);
        CHECK(is_near(clock.steps[0].step_ns, double(step_ns), double(kMs)));
    }
}

TEST_CASE("a longer route of one direction is no step of a clock", "[mapi-core][qos]")
{
    SimulatedLink link;
    link.clock_error = [](int64_t) { return -kSecond; };
    for (int i = 0; i < 2000; ++i) {
        const int64_t time_ns = i * 20 * kMs;
        link.forward(time_ns, (i < 1000 ? 8 : 60) * kMs + i % 7 * 100000);
        link.backward(time_ns + 5 * kMs, 8 * kMs + i % 5 * 100000);
    }
    CHECK(clock_of(link).steps.empty());
}

TEST_CASE("hop limits show the direction although the clocks do not", "[mapi-core][qos]")
{
    SimulatedLink link;
    link.second_hop_limit = 63;
    link.clock_error = [](int64_t) { return -kSecond; };
    for (int i = 0; i < 30; ++i)
        link.forward(i * kMs, 8 * kMs);
    const auto &seen = link.seen(kSecond);
    const auto matches = qos::match(seen);
    const auto samples = qos::clock_samples(matches);
    const auto directions = qos::find_directions(seen, matches, samples, {});
    CHECK(directions.of_flow[kForwardFlow] == qos::Direction::kForward);
    CHECK_FALSE(qos::find_clock(samples, directions, ClockWish::kDetect).is_synchronised);
}

TEST_CASE("pieces of a clock that jumps all the time are in the order of their times",
          "[mapi-core][qos]")
{
    std::mt19937 random(3);
    std::vector<int64_t> errors_ns(200);
    for (int64_t &error_ns : errors_ns)
        error_ns = int64_t(random() % 2000) * kMs - kSecond;
    SimulatedLink link = busy_link(true, [&](int64_t time_ns) {
        return errors_ns[size_t(time_ns / kSecond) % errors_ns.size()];
    });
    const auto &seen = link.seen(101 * kSecond);
    const auto matches = qos::match(seen);
    const auto samples = qos::clock_samples(matches);
    const auto directions = qos::find_directions(seen, matches, samples, {});
    const auto clock = qos::find_clock(samples, directions, ClockWish::kUnsynchronised);
    REQUIRE(clock.pieces.size() > 10);
    for (size_t i = 1; i < clock.pieces.size(); ++i)
        CHECK(clock.pieces[i - 1].from_ns < clock.pieces[i].from_ns);
}
