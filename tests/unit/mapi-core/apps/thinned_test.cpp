// SPDX-License-Identifier: MIT
// thinned: nsdump's report on a thinned pass -> cost of the probes inside slices, and of all.
#include "support/catch.hpp"

#include "mapi_cost/run/thinned.hpp"

using namespace mapi_cost;
using nsdump::Measured;

namespace
{
// A dispatch with two filters inside: calibration says 2 * 100 ticks.
nsdump::StatsReport report(double on, double off, double ci95, double calibrated_ci95 = 20,
                           uint64_t epochs = 40)
{
    nsdump::SliceThinning thinning;
    thinning.net = Measured{off - 60, ci95};
    thinning.costs = {{"FILTER", "pair", 2, {}, {100, calibrated_ci95 / 2}}};
    thinning.cells = {{{}, 1000, epochs, on, {on, ci95}},
                      {{"FILTER"}, 1000, epochs, off, {off, ci95}}};
    nsdump::SliceReport slice;
    slice.name = "dispatch";
    slice.thinning = thinning;
    nsdump::StatsReport all;
    all.slices = {slice};
    return all;
}
} // namespace

TEST_CASE("the probes inside a slice cost what it takes longer with them, next to calibration",
          "[mapi_cost][thinned]")
{
    const auto factors = inside_factors(report(1160, 1000, 0.01), {"dispatch", "publish"});

    REQUIRE(factors.size() == 1);
    CHECK(factors.at("dispatch").value == Approx(0.8).margin(1e-3)); // 160 of 200
    CHECK(factors.at("dispatch").ci95 == Approx(0).margin(1e-3));
}

TEST_CASE("thinning and calibration count by the square of the other's half width",
          "[mapi_cost][thinned]")
{
    // 180 +- 20 by thinning, 200 +- 20 by calibration
    const auto factors = inside_factors(report(1180, 1000, 20 / std::sqrt(2.0)), {"dispatch"});

    CHECK(factors.at("dispatch").value == Approx(190.0 / 200));
    CHECK(factors.at("dispatch").ci95 == Approx(20 / std::sqrt(2.0) / 200));
}

TEST_CASE("a slice that is not asked for, or has too few epochs, has no factor",
          "[mapi_cost][thinned]")
{
    CHECK(inside_factors(report(1180, 1000, 1), {"publish"}).empty());
    CHECK(inside_factors(report(1180, 1000, 1, 20, 7), {"dispatch"}).empty());
    nsdump::StatsReport none = report(1180, 1000, 1);
    none.slices[0].thinning->net.reset();
    CHECK(inside_factors(none, {"dispatch"}).empty());
}

TEST_CASE("the program's slowdown is the mean of the loads, and one that varies counts little",
          "[mapi_cost][thinned]")
{
    const auto cost = slowdown({{{1100, 10}, {1000, 0}}, {{9000, 90000}, {10000, 0}}});

    REQUIRE(cost);
    CHECK(cost->value == Approx(0.1).margin(1e-3));
    CHECK(cost->ci95 == Approx(0.01).margin(1e-4));
    CHECK_FALSE(slowdown({}));
}

TEST_CASE("loads whose slowdowns differ widen its interval", "[mapi_cost][thinned]")
{
    const auto alike = slowdown({{{1100, 10}, {1000, 0}}, {{1101, 10}, {1000, 0}}});
    const auto different = slowdown({{{1100, 10}, {1000, 0}}, {{1300, 11}, {1000, 0}}});
    REQUIRE(alike);
    REQUIRE(different);
    CHECK(alike->ci95 < 0.01);
    CHECK(different->value > 0.15);
    CHECK(different->ci95 > 0.1); // reaches both
}

TEST_CASE("a report without epochs says nothing about the program", "[mapi_cost][thinned]")
{
    nsdump::StatsReport some;
    CHECK_FALSE(program_cost(some));
    some.thinning.emplace();
    CHECK_FALSE(program_cost(some));
    some.thinning->units.push_back({"batch", {}, {}, {1100, 5}, {1000, 6}, {}, 9, 9});
    REQUIRE(program_cost(some));
    CHECK(program_cost(some)->on.value == 1100);
    CHECK(program_cost(some)->off.ci95 == 6);
}
