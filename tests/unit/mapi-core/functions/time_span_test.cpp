// SPDX-License-Identifier: MIT
// Time span: dates in the local time zone, and times relative to a packet.
#include "functions/common/time_span.hpp"

#include <cstdlib>
#include <ctime>
#include <limits>

#include "support/catch.hpp"

using mapi::functions::parse_time_point;

namespace
{
// Sets the time zone during its lifetime.
struct TimeZone {
    explicit TimeZone(const char *name)
    {
        setenv("TZ", name, 1);
        tzset();
    }
    ~TimeZone()
    {
        unsetenv("TZ");
        tzset();
    }
};
} // namespace

TEST_CASE("a plus sign makes a time relative", "[mapi-core][functions]")
{
    const auto point = parse_time_point("+2.5s");
    REQUIRE(point);
    CHECK(point->is_relative);
    CHECK(point->after(1000) == 2500001000);
}

TEST_CASE("a date is local time, in summer and in winter", "[mapi-core][functions]")
{
    const TimeZone berlin("CET-1CEST,M3.5.0,M10.5.0/3");
    CHECK(parse_time_point("2004-01-01 01:00:00")->after(5) == 1072915200ull * 1000000000);
    CHECK(parse_time_point("2004-07-01 02:00:00")->ns == 1088640000ull * 1000000000);
    CHECK(parse_time_point("2004-07-01 02:00:00.25")->ns == 1088640000ull * 1000000000 + 250000000);
}

TEST_CASE("an invalid text is not a time", "[mapi-core][functions]")
{
    for (const char *text : {"", "+", "+5", "5s", "-5s", "+-5s", "++5s", "2004-01-01",
                             "2004-13-01 00:00:00", "2004-01-01 00:00:00x", "2004-01-01 00:00:00.",
                             "2004-01-01 00:00:00.5s", "1950-01-01 00:00:00"})
        CHECK_FALSE(parse_time_point(text));
}

TEST_CASE("a time later than packets can have becomes the last possible time",
          "[mapi-core][functions]")
{
    constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
    CHECK(parse_time_point("9999-12-31 23:59:59")->after(5) == kLast);
    CHECK(parse_time_point("+1h")->after(kLast - 1000) == kLast);
    CHECK(parse_time_point("2554-01-01 00:00:00")->ns < kLast);
}
