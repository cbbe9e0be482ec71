// SPDX-License-Identifier: MIT
// Trimmed means and their intervals against values worked out by hand.
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

extern "C" {
#include <nsprobe/sample.h>
}

TEST_CASE("the trimmed mean leaves out a fifth at either end", "[libnsprobe][sample]")
{
    double values[] = {1000, 3, 1, -500, 2, 4, 5, 6, 8, 7};
    const nsp_estimate estimate = nsp_trimmed_mean(values, 10);
    // sorted: -500 1 2 3 4 5 6 7 8 1000; kept: 2 3 4 5 6 7
    CHECK(estimate.mean == Approx(4.5));
    CHECK(estimate.samples == 10);
    CHECK(estimate.trimmed == 4);
    // winsorised: 2 2 2 3 4 5 6 7 7 7, mean 4.5, squares 42.5; s = sqrt(42.5 / 9); t(5) = 2.57
    CHECK(estimate.ci95 == Approx(2.57 * std::sqrt(42.5 / 9) * std::sqrt(10.0) / 6).epsilon(1e-6));
}

TEST_CASE("few values are not trimmed, one has no interval, none is nothing", "[libnsprobe][sample]")
{
    double four[] = {4, 1, 3, 2}, one[] = {7};
    CHECK(nsp_trimmed_mean(four, 4).mean == Approx(2.5));
    CHECK(nsp_trimmed_mean(four, 4).trimmed == 0);
    CHECK(nsp_trimmed_mean(one, 1).mean == 7);
    CHECK(nsp_trimmed_mean(one, 1).ci95 == 0);
    CHECK(nsp_trimmed_mean(one, 0).samples == 0);
}

TEST_CASE("equal values have an interval of zero", "[libnsprobe][sample]")
{
    std::vector<double> values(25, 23.5);
    const nsp_estimate estimate = nsp_trimmed_mean(values.data(), 25);
    CHECK(estimate.mean == 23.5);
    CHECK(estimate.ci95 == 0);
}

TEST_CASE("the 95 % interval holds the true mean about 95 times in 100", "[libnsprobe][sample]")
{
    std::mt19937_64 random(20040714);
    std::normal_distribution<double> normal(100, 5);
    int held = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> values(25);
        std::generate(values.begin(), values.end(), [&] { return normal(random); });
        const nsp_estimate estimate = nsp_trimmed_mean(values.data(), 25);
        held += std::fabs(estimate.mean - 100) <= estimate.ci95;
    }
    CHECK(held > kTrials * 0.93);
    CHECK(held < kTrials * 0.97);
}
