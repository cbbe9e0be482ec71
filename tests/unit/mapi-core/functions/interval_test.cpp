// SPDX-License-Identifier: MIT
// Interval: valid texts and their meaning, and invalid ones.
#include "functions/values/interval.hpp"

#include "support/catch.hpp"

using mapi::functions::parse_interval;

TEST_CASE("a plain number is packets, a number with a unit is time", "[mapi-core][functions]")
{
    CHECK(parse_interval("0")->packets == 1);
    CHECK(parse_interval("1")->packets == 1);
    CHECK(parse_interval("20")->packets == 20);
    CHECK(parse_interval("20")->ns == 0);
    CHECK(parse_interval("100ns")->ns == 100);
    CHECK(parse_interval("10us")->ns == 10000);
    CHECK(parse_interval("5ms")->ns == 5000000);
    CHECK(parse_interval("2.5s")->ns == 2500000000);
    CHECK(parse_interval("1m")->ns == 60000000000);
    CHECK(parse_interval("1h")->ns == 3600000000000);
}

TEST_CASE("an invalid text is not an interval", "[mapi-core][functions]")
{
    for (const char *text : {"", "s", "-1", "-1s", "5x", "5 s", "5ss", "0s", "0.1ns", "nan s",
                             "nans", "infs", "1e3s", "1e400s", "9999999h", "99999999999999999999"})
        CHECK_FALSE(parse_interval(text));
}
