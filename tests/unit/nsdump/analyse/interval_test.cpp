// SPDX-License-Identifier: MIT
#include "analyse/correct/interval.hpp"

#include <cmath>

#include "support/catch.hpp"

using nsdump::interval95;
using nsdump::rounding_ci95;

TEST_CASE("one slice may be wrong by a step, many by the readings that may be missing among them",
          "[nsdump][interval]")
{
    CHECK(rounding_ci95(26, 1) == 26);
    CHECK(rounding_ci95(26, 3) == 26);
    CHECK(rounding_ci95(26, 1000) == Approx(0.078));
    CHECK(rounding_ci95(0, 10) == 0); // counters
}

TEST_CASE("independent errors add in quadrature, a bound adds directly", "[nsdump][interval]")
{
    nsdump::OtherErrors others{0, {}, 0.5};
    others.constants.add_ci95(3, nsdump::kManyDegrees);
    CHECK(*interval95({1, 2}, {}) == Approx(4.30)); // t(2)
    CHECK(*interval95({1, nsdump::kManyDegrees}, others) ==
          Approx(std::sqrt(1.96 * 1.96 + 9) + 0.5));
}

TEST_CASE("the sampling error is no less than what the clock's step may hide", "[nsdump][interval]")
{
    CHECK(*interval95({0, 100}, {2, {}, 0}) == Approx(2));
    CHECK(*interval95({1, nsdump::kManyDegrees}, {1.9, {}, 0}) == Approx(1.96));
}

TEST_CASE("combining two errors with few degrees of freedom gives more of them",
          "[nsdump][interval]")
{
    nsdump::Uncertainty both;
    both.add_ci95(2.78, 4); // a standard error of 1
    both.add_ci95(2.78, 4);
    CHECK(both.degrees() == Approx(8));
    CHECK(both.ci95() == Approx(2.31 * std::sqrt(2.0)));
    CHECK(both.scaled(10).ci95() == Approx(23.1 * std::sqrt(2.0)));
    both.add(1000, nsdump::kManyDegrees); // next to which they do not matter
    CHECK(both.ci95() == Approx(1960).epsilon(1e-3));
}

TEST_CASE("neither one value nor none has an interval", "[nsdump][interval]")
{
    CHECK_FALSE(interval95({0, 0}, {26, {}, 0}));
    CHECK_FALSE(interval95({0, -1}, {26, {}, 0}));
}

TEST_CASE("correlated neighbours have a larger sampling error than as many independent values",
          "[nsdump][interval]")
{
    nsdump::Blocks blocks;
    for (int i = 0; i < 128; ++i) // 32 blocks of 4 equal values
        blocks.add(1, i / 4 % 2);
    const nsdump::Sampling sampling = nsdump::sampling_of(blocks);
    CHECK(sampling.standard_error == Approx(std::sqrt(0.25 / 31)));
    CHECK(sampling.degrees == 31);
}
