// SPDX-License-Identifier: MIT
#include "decode/source/faster_way.hpp"

#include "support/catch.hpp"

namespace
{
using nsdump::FasterWay;

// Parts that take turns until the choice is made.
template <class Cost> bool chooses_other(Cost cost)
{
    FasterWay way;
    for (size_t part = 0; part < 2 * FasterWay::kParts; ++part) {
        REQUIRE(!way.is_decided());
        REQUIRE(way.is_other() == (part % 2 == 1));
        way.note(cost(way.is_other(), part));
    }
    REQUIRE(way.is_decided());
    return way.is_other();
}
} // namespace

TEST_CASE("the other way is taken if it is clearly faster", "[nsdump][faster_way]")
{
    const double ratio = GENERATE(0.5, 0.95, 0.98, 1.0, 2.0);
    CHECK(chooses_other([&](bool is_other, size_t) { return is_other ? ratio : 1; }) ==
          (ratio < 1 - FasterWay::kLeastGain));
}

TEST_CASE("parts that were disturbed do not decide", "[nsdump][faster_way]")
{
    const bool is_faster = GENERATE(false, true);
    const auto cost = [&](bool is_other, size_t part) {
        const bool is_disturbed = is_other == is_faster && part / 2 % 3 == 0;
        return is_disturbed ? 100.0 : is_other == is_faster ? 0.8 : 1.0;
    };
    CHECK(chooses_other(cost) == is_faster);
}

TEST_CASE("costs after the choice do not change it", "[nsdump][faster_way]")
{
    FasterWay way;
    while (!way.is_decided())
        way.note(way.is_other() ? 1 : 2);
    for (size_t i = 0; i < 4 * FasterWay::kParts; ++i)
        way.note(100);
    CHECK(way.is_other());
}
