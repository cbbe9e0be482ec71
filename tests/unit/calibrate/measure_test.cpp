// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <cmath>

#include "support/catch.hpp"

using namespace calibrate;

namespace
{
// A simulated machine: its clock advances in steps, a call has a one-time cost, and CPU time is
// stolen now and then.
struct Machine {
    double now_ticks = 0;
    double ticks_per_round = 0;
    double ticks_per_call = 0;
    double step_ticks = 1;
    int stolen_every = 0;
    int calls = 0;
} machine;

void loop(uint32_t rounds)
{
    machine.now_ticks += machine.ticks_per_call + rounds * machine.ticks_per_round;
    if (machine.stolen_every && ++machine.calls % machine.stolen_every == 0)
        machine.now_ticks += 284000;
}

uint64_t read_machine()
{
    machine.now_ticks += 31.7; // the cost of the reading itself
    return uint64_t(std::floor(machine.now_ticks / machine.step_ticks) * machine.step_ticks);
}
} // namespace

TEST_CASE("the one-time cost of a batch is not part of the cost of a round", "[calibrate][measure]")
{
    machine = {0, 23, 5000, 1, 0, 0};
    const Estimate cost = measure_loop(loop, 1000, 20, read_machine);
    CHECK(cost.mean == Approx(23).margin(0.01));
    CHECK(cost.batches == 20);
}

TEST_CASE("a clock that advances in steps of 26 ticks does not falsify a cost of 8.7",
          "[calibrate][measure]")
{
    machine = {0, 8.7, 40, 26, 0, 0};
    const Estimate cost = measure_loop(loop, 1000, 50, read_machine);
    CHECK(cost.mean == Approx(8.7).margin(0.03));
    CHECK(cost.ci95 < 0.03);
}

TEST_CASE("batches with stolen CPU time are left out and counted", "[calibrate][measure]")
{
    machine = {0, 23, 0, 1, 17, 0};
    const Estimate cost = measure_loop(loop, 512, 100, read_machine);
    CHECK(cost.mean == Approx(23).margin(0.2));
    CHECK(cost.trimmed == 40);
}

TEST_CASE("the empty loop is subtracted and its interval added", "[calibrate][measure]")
{
    const Estimate net = without({25, 0.3, 0, 50, 20}, {1, 0.4, 0, 50, 20});
    CHECK(net.mean == 24);
    CHECK(net.ci95 == Approx(0.5));
    CHECK(net.batches == 50);
}

TEST_CASE("no pass gives no result, one pass gives its own", "[calibrate][measure]")
{
    CHECK(combine({}).batches == 0);
    CHECK(combine({{10, 0.5, 0, 50, 20}}).mean == 10);
    CHECK(combine({{10, 0.5, 0, 50, 20}}).ci95 == 0.5);
}

TEST_CASE("a pass that is disturbed as a whole is left out with all its batches",
          "[calibrate][measure]")
{
    const Estimate good = {20, 0.1, 0, 50, 20}, ruined = {90, 0.1, 0, 50, 20};
    const Estimate whole = combine({good, good, ruined, good, good});
    CHECK(whole.mean == Approx(20));
    CHECK(whole.spread == Approx(0));
    CHECK(whole.batches == 250);
    CHECK(whole.trimmed == 3 * 20 + 2 * 50); // one pass at each end
}

TEST_CASE("passes that differ widen the interval beyond that of any single pass",
          "[calibrate][measure]")
{
    std::vector<Estimate> passes;
    for (int i = 0; i < 10; ++i)
        passes.push_back({20.0 + i, 0.01, 0, 50, 20});
    const Estimate whole = combine(passes);
    CHECK(whole.mean == Approx(24.5));
    CHECK(whole.ci95 > 1);
    CHECK(whole.spread == Approx(5 / 24.5)); // 22 to 27 are kept
}

TEST_CASE("passes that agree keep the interval of their batches", "[calibrate][measure]")
{
    const Estimate whole = combine(std::vector<Estimate>(4, {20, 0.4, 0, 50, 20}));
    CHECK(whole.ci95 == Approx(0.4 / std::sqrt(4)));
}
