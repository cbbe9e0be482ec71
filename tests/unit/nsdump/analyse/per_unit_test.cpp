// SPDX-License-Identifier: MIT
#include "analyse/statistics/per_unit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "support/catch.hpp"

using nsdump::Blocks;
using nsdump::PerUnit;

TEST_CASE("the error of a ratio is that of its residuals", "[nsdump][per_unit]")
{
    // (packets, value): (1, 9) (2, 22) (1, 11): ratio 42 / 4 = 10.5, residuals -1.5, 1, 0.5
    PerUnit units;
    const double rows[][2] = {{1, 9}, {2, 22}, {1, 11}};
    uint64_t serial = 0;
    for (const auto &[packets, value] : rows) {
        units.begin(++serial, packets);
        units.add(value - 4); // in two slices
        units.add(4);
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
        REQUIRE(units.go_to(1));
        units.add(20);
        REQUIRE(units.go_to(2));
        units.add(20);
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
    units.add(50);
    units.begin(9, 10); // evicts 1
    units.add(100);
    REQUIRE_FALSE(units.go_to(1));
    units.begin(1, 0);
    units.add(50);
    units.finish();
    CHECK(units.blocks().standard_error() > 0);
}

TEST_CASE("units in any order fill the blocks as parts of their own would", "[nsdump][per_unit]")
{
    struct Part {
        uint64_t serial = 0;
        double packets = 0, value = 0;
    };
    std::array<Part, 8> parts{};
    Blocks expected;
    const auto flush = [&](const Part &part) {
        if (part.serial != 0)
            expected.add(part.packets, part.value);
    };
    PerUnit units;
    std::mt19937_64 random(1);
    uint64_t latest = 0;
    for (int i = 0; i < 20'000; ++i) {
        const uint64_t serial = latest - std::min<uint64_t>(latest, random() % 12) + 1;
        latest = std::max(latest, serial);
        const auto value = double(random() % 1000), packets = double(random() % 4);
        Part &part = parts[serial % 8];
        REQUIRE(units.go_to(serial) == (part.serial == serial));
        if (part.serial != serial) {
            flush(part);
            part = {serial, packets, 0};
            units.begin(serial, packets);
        }
        part.value += value;
        units.add(value);
    }
    for (const Part &part : parts)
        flush(part);
    units.finish();
    CHECK(units.blocks().count() == expected.count());
    CHECK(units.blocks().standard_error() == expected.standard_error());
}

TEST_CASE("one unit has no error", "[nsdump][per_unit]")
{
    PerUnit units;
    units.begin(1, 3);
    units.add(12);
    units.finish();
    CHECK(units.blocks().count() == 1);
    CHECK(units.blocks().standard_error() == 0);
}
