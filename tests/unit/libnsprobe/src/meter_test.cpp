// SPDX-License-Identifier: MIT
// Meter: the cost of pieces of code, without the cost of the meter.
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <nsprobe/meter.h>

namespace
{
constexpr int kRounds = 4000; // of a multiplication that depends on the previous one

void work(int rounds)
{
    uint64_t value = 3;
    for (int i = 0; i < rounds; ++i) {
        value *= 0x9e3779b97f4a7c15;
        __asm__ volatile("" : "+r"(value));
    }
}

struct Measured {
    nsp_meter_sum sum;
    nsp_meter_net net;
};

Measured measure(nsp_meter *meter, int calls, int rounds)
{
    Measured measured = {};
    for (int i = 0; i < calls; ++i) {
        nsp_meter_begin(meter);
        work(rounds);
        nsp_meter_end(meter, &measured.sum);
    }
    nsp_meter_read(meter, &measured.sum, &measured.net);
    return measured;
}

// The least disturbed of several.
double least_ticks(nsp_meter *meter, int calls, int rounds)
{
    double least = INFINITY;
    for (int i = 0; i < 200; ++i)
        least = std::min(least, measure(meter, calls, rounds).net.ticks);
    return least;
}

struct OpenMeter {
    nsp_meter *meter = nullptr;
    OpenMeter() { REQUIRE(nsp_meter_open(&meter) == 0); }
    ~OpenMeter() { nsp_meter_close(meter); }
};
} // namespace

TEST_CASE("work spread over many calls costs the same as in one call", "[meter]")
{
    const OpenMeter opened;
    const double together = least_ticks(opened.meter, 1, kRounds),
                 apart = least_ticks(opened.meter, 40, kRounds / 40);
    const nsp_meter_net net = measure(opened.meter, 40, kRounds / 40).net;
    INFO(together << " ticks in one call, " << apart << " in 40, interval " << net.ticks_ci95);
    CHECK(std::fabs(apart - together) <= net.ticks_ci95 + together / 10);
    CHECK(measure(opened.meter, 40, kRounds / 40).sum.ticks > together);
}

TEST_CASE("calls are counted, and counts are absent where there is no counter", "[meter]")
{
    const OpenMeter opened;
    const Measured measured = measure(opened.meter, 10, 1);
    CHECK(measured.sum.calls == 10);
    if (strcmp(nsp_meter_source(opened.meter), "none") != 0) {
        CHECK(measured.sum.counted_calls > 0);
        const double few = measure(opened.meter, 10, 100).net.instructions,
                     many = measure(opened.meter, 10, 1100).net.instructions;
        CHECK(std::fmod(many - few, 10 * 1000) == 0); // whole instructions per round
    } else {
        CHECK(measured.sum.counted_calls == 0);
        CHECK(measured.net.instructions == 0);
        CHECK(measured.net.cycles == 0);
    }
}

TEST_CASE("a clock's rate is known once there was time to measure it", "[meter]")
{
    const OpenMeter opened;
    nsp_meter_net net = {};
    const nsp_meter_sum none = {};
    do
        nsp_meter_read(opened.meter, &none, &net);
    while (net.ticks_per_second == 0);
    CHECK(net.ticks_per_second > 1e6);
    CHECK(net.ticks_per_second < 1e11);
    CHECK(net.ticks == 0);
}
