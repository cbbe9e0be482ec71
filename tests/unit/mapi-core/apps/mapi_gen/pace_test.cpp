// SPDX-License-Identifier: MIT
// pace: a rate and the clock -> whether the next packet is due.
#include "support/catch.hpp"

#include "pace.hpp"

using namespace mapi_gen;

namespace
{
constexpr uint64_t kMillisecondNs = 1'000'000;

// Packets that leave from `begin_ns` until `end_ns`, with a look at the clock every `look_ns`.
uint64_t run(Pace &pace, Ticks cost, uint64_t begin_ns, uint64_t end_ns, uint64_t look_ns)
{
    uint64_t packets = 0;
    for (uint64_t now = begin_ns; now < end_ns; now += look_ns)
        for (; pace.due() <= ticks(now); ++packets)
            pace.take(ticks(now), cost);
    return packets;
}
} // namespace

TEST_CASE("a rate is the time of a packet, for each thread", "[mapi_gen][pace]")
{
    CHECK(cost_of({.packets_per_s = 1e6}, 64, 1) == ticks(1000));
    CHECK(cost_of({.packets_per_s = 1e6}, 64, 4) == ticks(4000));
    CHECK(cost_of({.bits_per_s = 1e9}, 125, 1) == ticks(1000));
    CHECK(cost_of({.packets_per_s = 1e12}, 64, 1) == 1);
    // at the rate of a 10 Gbit/s line, the rounding is less than 10 in a million
    const double line = cost_of({.packets_per_s = 14'880'952}, 64, 1);
    CHECK(line / double(ticks(1)) == Approx(67.2).epsilon(1e-5));
}

TEST_CASE("each millisecond has its packets", "[mapi_gen][pace]")
{
    Pace pace(0);
    const Ticks cost = cost_of({.packets_per_s = 100'000}, 64, 1);
    for (uint64_t at = 0; at < 50; ++at)
        CHECK(run(pace, cost, at * kMillisecondNs, (at + 1) * kMillisecondNs, 1000) == 100);
    CHECK(pace.given_up() == 0);
}

TEST_CASE("a short stall is caught up at no more than twice the rate", "[mapi_gen][pace]")
{
    Pace pace(0);
    const Ticks cost = cost_of({.packets_per_s = 100'000}, 64, 1);
    const uint64_t stall = 50 * kMillisecondNs;
    uint64_t sent = 0;
    for (uint64_t at = stall; at < 3 * stall; at += kMillisecondNs) {
        const uint64_t now = run(pace, cost, at, at + kMillisecondNs, 1000);
        CHECK(now <= 200 + 40); // and the 200 us that may leave at once
        sent += now;
    }
    CHECK(sent == 15'000); // all of 150 ms
    CHECK(pace.given_up() == 0);
}

TEST_CASE("what is more than 100 ms late is given up and counted", "[mapi_gen][pace]")
{
    Pace pace(0);
    const Ticks cost = cost_of({.packets_per_s = 100'000}, 64, 1);
    const uint64_t begin = 1000 * kMillisecondNs;
    const uint64_t sent = run(pace, cost, begin, begin + 500 * kMillisecondNs, 1000);
    CHECK(pace.given_up() == ticks(900 * kMillisecondNs));
    CHECK(sent == 60'000);
}

TEST_CASE("a rate that cannot be reached is counted as what is given up", "[mapi_gen][pace]")
{
    Pace pace(0);
    const Ticks cost = cost_of({.packets_per_s = 100'000}, 64, 1);
    uint64_t sent = 0; // every 20 us, half of the rate
    for (uint64_t now = 0; now < 1000 * kMillisecondNs; now += 20'000, ++sent) {
        REQUIRE(pace.due() <= ticks(now));
        pace.take(ticks(now), cost);
    }
    CHECK(double(sent + pace.given_up() / cost) == Approx(90'000).epsilon(0.001));
}
