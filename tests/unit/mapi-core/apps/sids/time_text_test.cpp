// SPDX-License-Identifier: MIT
#include "sids/output/time_text.hpp"

#include "support/catch.hpp"

using namespace sids;

namespace
{
constexpr uint64_t kNtpOf1970 = 2208988800;
}

TEST_CASE("a time of MAPI becomes nanoseconds since 1970, also after 2036", "[sids]")
{
    CHECK(ns_of_ntp(kNtpOf1970 << 32) == 0);
    CHECK(ns_of_ntp(kNtpOf1970 << 32 | uint64_t{1} << 31) == 500000000);
    // microseconds are exact, though the fraction is rounded
    for (const uint64_t microseconds : {1u, 7u, 999999u}) {
        const uint64_t fraction = (microseconds * 1000 << 32) / 1000000000;
        CHECK(ns_of_ntp((kNtpOf1970 + 5) << 32 | fraction) / 1000 == 5000000 + microseconds);
    }
    CHECK(ns_of_ntp(uint64_t{10} << 32) == ((uint64_t{1} << 32) - kNtpOf1970 + 10) * 1000000000);
}

TEST_CASE("times are shown in UTC with microseconds", "[sids]")
{
    constexpr uint64_t kNs = 1100000000123456789;
    CHECK(json_time(kNs) == "2004-11-09T11:33:20.123456+0000");
    CHECK(table_time(kNs) == "2004-11-09 11:33:20.123456");
}
