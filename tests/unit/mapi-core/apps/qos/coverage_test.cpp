// SPDX-License-Identifier: MIT
// Intervals: of 1,000 simulated links, how many have the true loss and mean delay inside.
#include <cmath>
#include <random>

#include "qos/analyse/measure.hpp"
#include "support/catch.hpp"

namespace
{
constexpr int kRuns = 1000;
constexpr int kSelected = 200; // of a run, at least, on average

struct Covered {
    int loss = 0;
    int delay = 0;
};

// Packets in bursts of loss, with delays that have a long tail.
Covered simulate(double rate, double loss, uint32_t seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> part(0, 1);
    std::exponential_distribution<double> tail(1.0 / 2e6);
    const int packets = 1000 + int(kSelected / rate);
    Covered covered;
    for (int run = 0; run < kRuns; ++run) {
        std::vector<qos::Passage> selected;
        int lost = 0;
        double sum_ns = 0;
        bool is_lossy = false;
        for (int i = 0; i < packets; ++i) {
            if (part(random) < 0.2)
                is_lossy = part(random) < loss;
            const double delay_ns = 1e6 + tail(random);
            lost += is_lossy;
            sum_ns += is_lossy ? 0 : delay_ns;
            if (part(random) < rate)
                selected.push_back({i, i + int64_t(delay_ns), delay_ns, 0, is_lossy ? 0U : 1U});
        }
        const auto found = qos::measure(selected, rate);
        const double share = double(lost) / packets;
        const double mean_ms = sum_ns / (packets - lost) / 1e6;
        covered.loss += found.loss_interval.low <= share && share <= found.loss_interval.high;
        covered.delay += found.delays && found.delays->mean_interval_ms.low <= mean_ms &&
                         mean_ms <= found.delays->mean_interval_ms.high;
    }
    return covered;
}
} // namespace

TEST_CASE("95 % intervals have the truth inside in 93 to 97 % of the runs", "[mapi-core][qos]")
{
    for (const double rate : {0.01, 0.05, 0.1})
        for (const double loss : {0.1, 0.3}) {
            const Covered covered = simulate(rate, loss, 26);
            INFO("rate " << rate << ", loss " << loss << ": loss " << covered.loss << ", delay "
                         << covered.delay);
            CHECK(covered.loss >= 930);
            CHECK(covered.loss <= 970);
            CHECK(covered.delay >= 930);
            CHECK(covered.delay <= 970);
        }
}
