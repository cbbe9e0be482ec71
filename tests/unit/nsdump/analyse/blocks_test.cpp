// SPDX-License-Identifier: MIT
#include "analyse/statistics/blocks.hpp"

#include <cmath>

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
