// SPDX-License-Identifier: MIT
#include "analyse/statistics/blocks.hpp"

#include <cmath>
#include <random>
#include <utility>

#include "support/catch.hpp"

using nsdump::Blocks;

TEST_CASE("up to 63 values have a block each, more share 32 to 64 blocks", "[nsdump][blocks]")
{
    Blocks blocks;
    CHECK(blocks.count() == 0);
    for (size_t i = 1; i <= 100'000; ++i) {
        blocks.add(1, 1);
        if (i < Blocks::kBlocks)
            REQUIRE(blocks.count() == i);
        else
            REQUIRE((blocks.count() >= Blocks::kBlocks / 2 && blocks.count() <= Blocks::kBlocks));
    }
    CHECK(blocks.standard_error() == 0);
}

TEST_CASE("few values have the standard error of their mean", "[nsdump][blocks]")
{
    Blocks blocks;
    for (const double value : {1.0, 2.0, 6.0})
        blocks.add(1, value); // mean 3, squares 4 + 1 + 9
    CHECK(blocks.standard_error() == Approx(std::sqrt(14.0 / 2 / 3)));
}

TEST_CASE("values in runs of equal ones have the error of the runs", "[nsdump][blocks]")
{
    Blocks blocks;
    for (int run = 0; run < 32; ++run)
        for (int i = 0; i < 1024; ++i)
            blocks.add(1, run % 2);
    REQUIRE(blocks.count() == 32);
    CHECK(blocks.standard_error() == Approx(std::sqrt(0.25 * 32 / 31 / 32)));
}

TEST_CASE("one block has no error", "[nsdump][blocks]")
{
    Blocks blocks;
    CHECK(blocks.standard_error() == 0);
    blocks.add(1, 5);
    CHECK(blocks.standard_error() == 0);
}

namespace
{
// The standard error of `count` values about `mean`, from a generator with this seed.
Blocks noise(unsigned seed, int count, double mean)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> draw(mean, 1);
    Blocks blocks;
    for (int i = 0; i < count; ++i)
        blocks.add(1, draw(random));
    return blocks;
}
} // namespace

TEST_CASE("merged blocks have the error of the mean of all values, whatever their lengths",
          "[nsdump][blocks]")
{
    for (const auto &[first, second] :
         {std::pair{5000, 5000}, {4100, 6100}, {7000, 40}, {50, 60}}) {
        double squares = 0;
        constexpr int kTrials = 300;
        for (int trial = 0; trial < kTrials; ++trial) {
            Blocks sum = noise(2 * unsigned(trial), first, 10);
            sum.merge(noise(2 * unsigned(trial) + 1, second, 10));
            squares += sum.standard_error() * sum.standard_error();
        }
        const double wanted = 1 / std::sqrt(first + second);
        CAPTURE(first, second);
        CHECK(std::sqrt(squares / kTrials) == Approx(wanted).epsilon(0.06));
    }
}

TEST_CASE("a lasting difference between merged parts does not widen the error", "[nsdump][blocks]")
{
    Blocks sum = noise(1, 5000, 10);
    sum.merge(noise(2, 6000, 1000));
    CHECK(sum.standard_error() < 5 / std::sqrt(11'000));
}

TEST_CASE("a disturbance of both merged parts counts as one", "[nsdump][blocks]")
{
    Blocks first, second, alone;
    for (int i = 0; i < 4096; ++i) {
        const double value = i / 1024 % 2;
        for (Blocks *const blocks : {&first, &second, &alone})
            blocks->add(1, value);
    }
    first.merge(second);
    CHECK(first.standard_error() == Approx(alone.standard_error()));
}

TEST_CASE("a part without values leaves the other as it is", "[nsdump][blocks]")
{
    const Blocks some = noise(1, 100, 10);
    Blocks sum = some, none;
    sum.merge({});
    none.merge(some);
    CHECK(sum.standard_error() == Approx(some.standard_error()));
    CHECK(none.standard_error() == Approx(some.standard_error()));
    Blocks nothing;
    nothing.merge({});
    CHECK(nothing.count() == 0);
}
