// SPDX-License-Identifier: MIT
// row: frames on a saturated line, and the share that a core can process.
#include "support/catch.hpp"

#include "mapi_cost/model/row.hpp"

using namespace mapi_cost;

TEST_CASE("a saturated 10 Gbit/s line of 64-byte frames carries 14.88 million packets a second",
          "[mapi_cost][row]")
{
    CHECK(line_packets_per_second(10, 64) == Approx(14'880'952.38));
    CHECK(line_packets_per_second(100, 1500) == Approx(8'223'684.2));
}

TEST_CASE("a core that uses exactly the cycles between two frames keeps up with exactly that line",
          "[mapi_cost][row]")
{
    const double hz = 2.6e9;
    const auto rates = rates_of(hz / line_packets_per_second(10, 64), hz, 0);

    REQUIRE(rates);
    REQUIRE(rates->lines.size() == 6);
    CHECK(rates->lines[0].gbit == 10);
    CHECK(rates->lines[0].frame_bytes == 64);
    CHECK(rates->lines[0].share == Approx(1.0));
    CHECK(rates->lines[0].gbit_per_second == Approx(10.0));
    CHECK(rates->lines[2].share == Approx(0.4)); // 25 Gbit/s, 64 bytes
}

TEST_CASE("a cost measured at one size says nothing about other frames", "[mapi_cost][row]")
{
    const auto at_1500 = rates_of(100, 1e9, 1500);
    const auto at_256 = rates_of(100, 1e9, 256);

    REQUIRE(at_1500);
    CHECK(at_1500->lines.size() == 3);
    for (const LineShare &line : at_1500->lines)
        CHECK(line.frame_bytes == 1500);
    REQUIRE(at_256);
    CHECK(at_256->lines.empty());
}

TEST_CASE("a cost below the noise gives no rate", "[mapi_cost][row]")
{
    CHECK_FALSE(rates_of(0, 1e9, 0));
    CHECK_FALSE(rates_of(-0.1, 1e9, 0));
}
