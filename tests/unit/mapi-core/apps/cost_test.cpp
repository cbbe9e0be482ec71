// SPDX-License-Identifier: MIT
// cost: block sums -> cost per packet.
#include "support/catch.hpp"

#include "mapi_cost/run/cost.hpp"

using namespace mapi_cost;

namespace
{
// Rounds of a cheap and an expensive batch; parts: driver_read (not counted), dispatch, FILTER.
TraceSums rounds(unsigned count, double cheap = 640, double dear = 6400)
{
    TraceSums sums;
    sums.parts = {"driver_read", "dispatch", "FILTER"};
    sums.is_counted = {false, true, true};
    sums.blocks_per_round = 2;
    for (unsigned i = 0; i < 2 * count; ++i) {
        Block block;
        block.index = i;
        block.number = i + 1;
        block.packets = 64;
        block.net = (i % 2 ? dear : cheap) + double(i / 2 % 3) - 1;
        block.raw = block.net + 128;
        block.part_net = {1000, 64, block.net - 64};
        sums.blocks.push_back(block);
    }
    return sums;
}
} // namespace

TEST_CASE("an interrupted batch does not change the cost, an expensive one is not taken for it",
          "[mapi_cost][cost]")
{
    TraceSums sums = rounds(30);
    sums.blocks[7].net += 1e6;
    sums.blocks[7].part_net[2] += 1e6;
    sums.blocks[20].net += 1e5;
    sums.blocks[20].part_net[2] += 1e5;

    const Cost cost = trimmed_cost(sums);

    CHECK(cost.whole.net == Approx((10.0 + 100.0) / 2).margin(0.02));
    CHECK(cost.whole.raw == Approx(cost.whole.net + 2).margin(1e-9));
    CHECK(cost.whole.ci95.value() > 0);
    CHECK(cost.whole.ci95.value() < 0.1);
    CHECK(cost.whole.packets == 30 * 128);
}

TEST_CASE("the parts that are counted add up to the cost", "[mapi_cost][cost]")
{
    TraceSums sums = rounds(30);
    sums.blocks[4].net += 5000;
    sums.blocks[4].part_net[1] += 5000;

    for (const Cost &cost : {trimmed_cost(sums), mean_cost(sums)}) {
        double counted = 0;
        for (const PartCost &part : cost.parts)
            counted += part.is_counted ? part.net : 0;
        CHECK(counted == Approx(cost.whole.net));
    }
}

TEST_CASE("what was subtracted adds its own uncertainty, which more packets do not reduce",
          "[mapi_cost][cost]")
{
    TraceSums sums = rounds(100);
    for (Block &block : sums.blocks)
        block.subtracted_ci95 = 32;

    CHECK(trimmed_cost(sums).whole.ci95.value() >= 0.5);
}

namespace
{
// Passes whose cost per packet is 10 plus these.
std::vector<Cost> passes(const std::vector<double> &excess)
{
    std::vector<Cost> costs;
    for (const double more : excess)
        costs.push_back(trimmed_cost(rounds(30, 640 + 64 * more, 640 + 64 * more)));
    return costs;
}
} // namespace

TEST_CASE("what differs between passes is in the interval, however alike the blocks of each are",
          "[mapi_cost][cost]")
{
    const std::vector<double> excess = {0, 1, 2, 3, 0, 1, 2, 3};
    const Cost cost = cost_of_passes(passes(excess));

    CHECK(passes(excess)[0].whole.ci95.value() < 0.02);
    CHECK(cost.whole.net == Approx(11.5));
    CHECK(cost.whole.ci95.value() > 1);
    CHECK(cost.whole.ci95.value() < 2);
    CHECK(cost.whole.packets == 8 * 30 * 128);
}

TEST_CASE("a pass that was disturbed does not move the cost", "[mapi_cost][cost]")
{
    const Cost cost = cost_of_passes(passes({0, .1, .2, .1, 0, .1, 50, .1}));

    CHECK(cost.whole.net == Approx(10.1).margin(0.1));
    CHECK(cost.whole.ci95.value() < 0.3);
    double counted = 0;
    for (const PartCost &part : cost.parts)
        counted += part.is_counted ? part.net : 0;
    CHECK(counted == Approx(cost.whole.net));
}

TEST_CASE("the interval of passes is not less than that of their blocks", "[mapi_cost][cost]")
{
    std::vector<Cost> same = passes({0, 0, 0, 0});
    for (Cost &pass : same) {
        pass.whole.ci95 = 2.5;
        pass.whole.bound = 0.5;
    }
    CHECK(cost_of_passes(same).whole.ci95.value() == Approx(2 / std::sqrt(4.0) + 0.5));
    same[1].whole.ci95.reset();
    CHECK_FALSE(cost_of_passes(same).whole.ci95);
}

TEST_CASE("a further flow costs the difference of passes that ran together, divided by the flows",
          "[mapi_cost][cost]")
{
    // The machine is slower in some passes, for one flow as for many.
    const std::vector<Cost> one = passes({0, 5, 0, 5, 9, 0, 5, 0}),
                            many = passes({8, 13, 8.1, 13, 17, 7.9, 13, 8});
    const Measured added = further_of_passes(one, many, 8);

    CHECK(added.net == Approx(1).margin(0.01));
    CHECK(added.ci95.value() > 0);
    CHECK(added.ci95.value() < 0.02);
}

TEST_CASE("own reads cancel in a further flow, and the probes inside both passes stay uncertain",
          "[mapi_cost][cost]")
{
    std::vector<Cost> one = passes({0, 0, 0, 0}), many = passes({8, 8, 8, 8});
    for (size_t i = 0; i < one.size(); ++i) {
        one[i].whole.own_bound = many[i].whole.own_bound = 0.2;
        one[i].whole.bound = 0.3;
        many[i].whole.bound = 1.1;
        *one[i].whole.ci95 += 0.3;
        *many[i].whole.ci95 += 1.1;
    }
    CHECK(further_of_passes(one, many, 8).bound == Approx(std::hypot(0.9, 0.1) / 8));
}

TEST_CASE("differences of the same packets are exact where their costs are not",
          "[mapi_cost][cost]")
{
    const Measured added = further_counts(rounds(5), rounds(5, 640 + 512, 6400 + 512), 8);

    CHECK(added.net == Approx(1.0));
    CHECK(added.ci95.value() == Approx(0).margin(1e-9));
}

TEST_CASE("units that only one of two passes has complete are not compared", "[mapi_cost][cost]")
{
    TraceSums one = rounds(5), many = rounds(5, 640 + 512, 6400 + 512);
    one.blocks.erase(one.blocks.begin() + 2);
    many.blocks.pop_back();
    const Measured added = further_counts(one, many, 8);

    CHECK(added.net == Approx(1.0));
    CHECK(added.ci95.value() == Approx(0).margin(1e-9));
    for (Block &block : many.blocks)
        block.number += 1000;
    CHECK_THROWS_AS(further_counts(one, many, 8), NothingMeasured);
}

TEST_CASE("a block of few packets widens the interval by its weight", "[mapi_cost][cost]")
{
    TraceSums sums = rounds(30, 640, 640); // 10 per packet, within 1
    sums.blocks.emplace_back();
    sums.blocks.back().packets = 1;
    sums.blocks.back().net = 165; // the fixed cost of a batch
    sums.blocks.back().part_net = {0, 0, 0};

    const Measured counted = mean_cost(sums).whole;

    CHECK(counted.net == Approx((60 * 640 + 165) / (60 * 64 + 1.0)).margin(0.01));
    CHECK(counted.ci95.value() > 155 / (60 * 64 + 1.0));
    CHECK(counted.ci95.value() < 3 * 155 / (60 * 64 + 1.0));
}

TEST_CASE("a single block has a cost and no interval, whatever is known of the probes",
          "[mapi_cost][cost]")
{
    TraceSums sums = rounds(1);
    sums.blocks.pop_back();
    sums.blocks[0].subtracted_ci95 = 32;

    for (const Measured &measured : {trimmed_cost(sums).whole, mean_cost(sums).whole}) {
        CHECK(measured.net == Approx(10).margin(0.1));
        CHECK_FALSE(measured.ci95);
    }
    CHECK_FALSE(further_of_passes({trimmed_cost(sums)}, {trimmed_cost(rounds(30))}, 8).ci95);
    CHECK_FALSE(further_of_passes({trimmed_cost(rounds(30))}, {trimmed_cost(sums)}, 8).ci95);
    CHECK_FALSE(further_counts(sums, rounds(30), 8).ci95);
}

TEST_CASE("a single round of batches that differ has no interval", "[mapi_cost][cost]")
{
    CHECK_FALSE(trimmed_cost(rounds(1)).whole.ci95);
    CHECK(trimmed_cost(rounds(2)).whole.ci95);
}

TEST_CASE("two blocks that cost the same have an interval of zero", "[mapi_cost][cost]")
{
    TraceSums sums = rounds(1, 640, 640);

    CHECK(mean_cost(sums).whole.ci95.value() == 0);
}

TEST_CASE("a pass without a complete unit has no cost", "[mapi_cost][cost]")
{
    CHECK_THROWS(trimmed_cost(TraceSums{}));
    CHECK_THROWS(mean_cost(TraceSums{}));
}
