// SPDX-License-Identifier: MIT
// Trimmed means and their intervals, compared with values calculated by hand.
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

extern "C" {
#include <nsprobe/sample.h>

#include "calibrate/sample_turns.h"
}

TEST_CASE("the trimmed mean leaves out a fifth at each end", "[libnsprobe][sample]")
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

TEST_CASE("few values are not trimmed, one value has no interval, no values have no mean",
          "[libnsprobe][sample]")
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

TEST_CASE("turns that differ widen the interval, not the mean", "[libnsprobe][sample]")
{
    // turns of two: 1 2 | 11 12 | 3 4 | 13 14 | 5 10; kept of the sorted: 3 to 11
    const double values[] = {1, 2, 11, 12, 3, 4, 13, 14, 5, 10};
    double sorted[10];
    const nsp_estimate estimate = nsp_trimmed_mean_of_turns(values, sorted, 10, 5);
    CHECK(estimate.mean == Approx((3 + 4 + 5 + 10 + 11 + 12) / 6.0));
    CHECK(estimate.trimmed == 4);
    // winsorised: 3 3 | 11 12 | 3 4 | 12 12 | 5 10, mean 7.5; turns differ by -9, 8, -8, 9, 0 from
    // 15; within: 0.5 + 0.5 + 12.5
    const double of_turns = (81 + 64 + 64 + 81) / 4.0 / 2, of_values = 13.5 / 5,
                 wander = (of_turns - of_values) / 2;
    // t(4) = 2.78; ten values, six kept
    CHECK(estimate.ci95 ==
          Approx(2.78 * 10 / 6 * std::sqrt(of_turns / 10 + NSP_USES_OF_WANDER * wander)));
}

TEST_CASE("turns that differ no more than their values explain have the interval of the mean",
          "[libnsprobe][sample]")
{
    // turns of two: 1 9 | 2 8 | 1 7 | 3 9 | 2 9; winsorised: 2 9 | 2 8 | 2 7 | 3 9 | 2 9, mean 5.3
    const double values[] = {1, 9, 2, 8, 1, 7, 3, 9, 2, 9};
    double sorted[10];
    const nsp_estimate estimate = nsp_trimmed_mean_of_turns(values, sorted, 10, 5);
    // turns differ by 0.4, -0.6, -1.6, 1.4, 0.4 from 10.6; t(4) = 2.78
    CHECK(estimate.ci95 ==
          Approx(2.78 * std::sqrt((0.16 + 0.36 + 2.56 + 1.96 + 0.16) * 5 / 4.0) / 6));
}

namespace
{
constexpr int kTrials = 4000, kBatches = 100, kTurns = 5;

// Batches around 100 that drift by `wander` from turn to turn.
std::vector<double> batches(std::mt19937_64 &random, double wander)
{
    std::normal_distribution<double> normal(0, 1);
    std::vector<double> values(kBatches);
    double turn = 0;
    for (int i = 0; i < kBatches; ++i) {
        if (i % (kBatches / kTurns) == 0)
            turn = wander * normal(random);
        values[i] = 100 + turn + normal(random);
    }
    return values;
}

// The mean of two calibrations, as a trace's reader forms it: in how many trials the interval holds
// the true value between them.
double share_held(double wander)
{
    std::mt19937_64 random(20040714);
    std::normal_distribution<double> normal(0, 1);
    int held = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
        double sorted[kBatches], mean = 0, variance = 0;
        for (int end = 0; end < 2; ++end) {
            const nsp_estimate estimate =
                nsp_trimmed_mean_of_turns(batches(random, wander).data(), sorted, kBatches, kTurns);
            mean += estimate.mean / 2;
            variance += estimate.ci95 * estimate.ci95 / 4 / (2.78 * 2.78);
        }
        constexpr double kQuantile = 2.31; // t(8)
        held += std::fabs(mean - 100 - wander * normal(random)) <= kQuantile * std::sqrt(variance);
    }
    return double(held) / kTrials;
}
} // namespace

TEST_CASE("the interval holds the true value at another time, with and without drift",
          "[libnsprobe][sample]")
{
    for (const double wander : {0.0, 1.0, 5.0}) {
        INFO(wander);
        CHECK(share_held(wander) > 0.93);
        CHECK(share_held(wander) < 0.98);
    }
}

TEST_CASE("the plain interval does not take into account that batches of one turn are alike",
          "[libnsprobe][sample]")
{
    std::mt19937_64 random(20040714);
    int held = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> values = batches(random, 1);
        const nsp_estimate estimate = nsp_trimmed_mean(values.data(), kBatches);
        held += std::fabs(estimate.mean - 100) <= estimate.ci95;
    }
    CHECK(held < kTrials * 0.6);
}
