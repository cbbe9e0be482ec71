// SPDX-License-Identifier: MIT
#include "sids/output/time_text.hpp"

#include "support/catch.hpp"

TEST_CASE("times are shown in UTC with microseconds", "[sids]")
{
    constexpr uint64_t kNs = 1100000000123456789;
    CHECK(sids::json_time(kNs) == "2004-11-09T11:33:20.123456+0000");
    CHECK(sids::table_time(kNs) == "2004-11-09 11:33:20.123456");
}
