// SPDX-License-Identifier: MIT
#include "analyse/thinning/combine.hpp"

#include "support/catch.hpp"

using nsdump::Measured;
using nsdump::NetSource;

namespace
{
nsdump::FieldReport ticks_with(double trimmed_mean, double ci95)
{
    nsdump::FieldReport ticks;
    ticks.count = 100;
    ticks.net.emplace();
    ticks.net->mean = trimmed_mean + 5;
    ticks.net->total = 100 * ticks.net->mean;
    ticks.net->min = 10;
    ticks.net->p90 = 120;
    ticks.net->trimmed_mean = trimmed_mean;
    ticks.net->trimmed_ci95 = ci95;
    ticks.net->ci95 = 12;
    ticks.net->sampling_ci95 = 3;
    return ticks;
}

nsdump::SliceThinning thinning_with(double net, double ci95, double shared = 0)
{
    nsdump::SliceThinning thinning;
    thinning.net = Measured{net, ci95};
    thinning.shared_bound = shared;
    return thinning;
}
} // namespace

TEST_CASE("the more exact of two values counts more", "[nsdump][thinning]")
{
    auto thinning = thinning_with(100, 3);
    nsdump::combine(ticks_with(104, 4), thinning);
    CHECK(thinning.used == NetSource::kBoth);
    CHECK(thinning.combined->value == Approx(0.64 * 100 + 0.36 * 104));
    CHECK(thinning.combined->ci95 == Approx(2.4));
    CHECK_FALSE(thinning.is_contradiction);
}

TEST_CASE("a bound that both values share does not shrink", "[nsdump][thinning]")
{
    auto thinning = thinning_with(100, 24, 24);
    nsdump::combine(ticks_with(100, 24), thinning);
    CHECK(thinning.combined->ci95 == 24);

    thinning = thinning_with(100, 27, 24);
    nsdump::combine(ticks_with(104, 28), thinning);
    CHECK(thinning.combined->ci95 == Approx(26.4));
}

TEST_CASE("the bound for work that reads overtake does not shrink either", "[nsdump][thinning]")
{
    auto thinning = thinning_with(100, 40);
    thinning.is_overtaking = true;
    nsdump::combine(ticks_with(60, 40), thinning);
    CHECK(thinning.used == NetSource::kThinning);
    CHECK(thinning.combined->value == 100);
    CHECK(thinning.combined->ci95 == 40);
    CHECK_FALSE(thinning.is_contradiction);
}

TEST_CASE("values that exclude each other are a contradiction, and thinning is used",
          "[nsdump][thinning]")
{
    auto thinning = thinning_with(53, 2);
    nsdump::combine(ticks_with(41.2, 1), thinning);
    CHECK(thinning.is_contradiction);
    CHECK(thinning.used == NetSource::kThinning);
    CHECK(thinning.combined->value == 53);
    CHECK(nsdump::contradiction_words("rx", thinning, 2) ==
          "calibration and random thinning contradict each other: slice rx: 41.2 ± 1.0 against "
          "53.0 ± 2.0 ticks; the code hides 5.9 ticks of each probe inside; thinning is used");
    thinning = thinning_with(100, 24, 24);
    nsdump::combine(ticks_with(101, 24.5), thinning);
    CHECK(thinning.is_contradiction); // the shared bound does not explain the difference
}

TEST_CASE("if there is only one value, it is used", "[nsdump][thinning]")
{
    nsdump::SliceThinning none;
    nsdump::combine(ticks_with(41, 1), none);
    CHECK(none.used == NetSource::kCalibration);
    CHECK(none.combined->value == 41);
    CHECK(none.shift == 0);

    auto only = thinning_with(53, 2);
    nsdump::combine({}, only);
    CHECK(only.used == NetSource::kThinning);
    CHECK(only.combined->value == 53);
}

TEST_CASE("net values move together, and the mean keeps its own sampling error",
          "[nsdump][thinning]")
{
    auto ticks = ticks_with(104, 4);
    ticks.per_packet.emplace();
    ticks.per_packet->net = 218;
    ticks.per_packet->net_sampling_ci95 = 1;
    ticks.per_packet->slices = 2;
    auto thinning = thinning_with(100, 3);
    nsdump::combine(ticks, thinning);
    nsdump::shift_net(ticks, thinning);
    const double shift = thinning.combined->value - 104;
    CHECK(ticks.net->trimmed_mean == Approx(thinning.combined->value));
    CHECK(ticks.net->mean == Approx(109 + shift));
    CHECK(ticks.net->total == Approx(100 * (109 + shift)));
    CHECK(ticks.net->min == Approx(10 + shift));
    CHECK(*ticks.net->p90 == Approx(120 + shift));
    CHECK_FALSE(ticks.net->p99);
    CHECK(*ticks.net->trimmed_ci95 == Approx(2.4));
    CHECK(*ticks.net->ci95 == Approx(std::hypot(2.4, 3)));
    CHECK(*ticks.per_packet->net == Approx(218 + 2 * shift));
    CHECK(*ticks.per_packet->net_ci95 == Approx(std::hypot(4.8, 1)));
    CHECK(*ticks.per_packet->net_trimmed_ci95 == Approx(4.8));
}
