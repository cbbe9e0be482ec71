// SPDX-License-Identifier: MIT
#include "analyse/statistics/per_unit.hpp"

#include <cmath>

#include "support/catch.hpp"

using nsdump::PerUnit;

TEST_CASE("the error of a ratio is that of its residuals", "[nsdump][per_unit]")
{
    // (packets, value): (1, 9) (2, 22) (1, 11): ratio 42 / 4 = 10.5, residuals -1.5, 1, 0.5
    PerUnit units;
    const double rows[][2] = {{1, 9}, {2, 22}, {1, 11}};
    uint64_t serial = 0;
    for (const auto &[packets, value] : rows) {
        units.begin(++serial, packets);
        units.add(serial, value - 4); // in two slices
        units.add(serial, 4);
    }
    units.finish();
    CHECK(units.blocks().count() == 3);
    CHECK(units.blocks().standard_error() == Approx(std::sqrt((2.25 + 1 + 0.25) / 2 * 3) / 4));
}

TEST_CASE("units that are open at the same time keep their slices separate", "[nsdump][per_unit]")
{
    PerUnit units;
    units.begin(1, 10);
    units.begin(2, 10);
    for (int i = 0; i < 5; ++i) {
        REQUIRE(units.has(1));
        REQUIRE(units.has(2));
        units.add(1, 20);
        units.add(2, 20);
    }
    units.finish();
    CHECK(units.blocks().count() == 2);
    CHECK(units.blocks().standard_error() == 0); // 100 in each
}

TEST_CASE("a unit that returns after others makes the error too large, never too small",
          "[nsdump][per_unit]")
{
    PerUnit units;
    units.begin(1, 10);
    units.add(1, 50);
    units.begin(9, 10); // evicts 1
    units.add(9, 100);
    REQUIRE_FALSE(units.has(1));
    units.begin(1, 0);
    units.add(1, 50);
    units.finish();
    CHECK(units.blocks().standard_error() > 0);
}

TEST_CASE("one unit has no error", "[nsdump][per_unit]")
{
    PerUnit units;
    units.begin(1, 3);
    units.add(1, 12);
    units.finish();
    CHECK(units.blocks().count() == 1);
    CHECK(units.blocks().standard_error() == 0);
}
