// SPDX-License-Identifier: MIT
#include "support/catch.hpp"

#include "functions/common/interval_clock.hpp"

using mapi::functions::IntervalClock;

namespace
{
constexpr uint64_t kSecond = 1000000000;
} // namespace

TEST_CASE("an interval of time ends before the first packet after it, however long the silence was",
          "[mapi-core][functions]")
{
    IntervalClock clock({0, kSecond});
    CHECK(clock.ended(100 * kSecond) == 0);
    CHECK(clock.ended(101 * kSecond - 1) == 0);
    CHECK(clock.ended(101 * kSecond) == 1);
    CHECK(clock.ended(105 * kSecond + 1) == 4);
    CHECK(clock.end_ns(0) == 105 * kSecond);
    CHECK(clock.end_ns(3) == 102 * kSecond);
    CHECK(clock.ended(104 * kSecond + 1) == 0); // a little late
    CHECK(clock.ended(106 * kSecond) == 1);
    CHECK(clock.time_jumps() == 0);
}

TEST_CASE("one time stamp far ahead, the first or a later one, does not suppress later intervals",
          "[mapi-core][functions]")
{
    for (const bool is_first : {true, false}) {
        IntervalClock clock({0, kSecond});
        if (!is_first)
            CHECK(clock.ended(100 * kSecond) == 0);
        const uint64_t silent = clock.ended(1000000 * kSecond);
        CHECK(silent == (is_first ? 0 : 1000000 - 100));
        CHECK(clock.reported(silent) == (is_first ? 0 : IntervalClock::kReportedMax));
        CHECK(clock.ended(101 * kSecond) == 0);
        for (uint64_t i = 1; i < 10; ++i)
            CHECK(clock.ended((101 + i) * kSecond) == 1);
        CHECK(clock.time_jumps() == (is_first ? 1 : 2));
    }
}

TEST_CASE("intervals of packets end with their last packet, whatever the time",
          "[mapi-core][functions]")
{
    IntervalClock clock({3, 0});
    for (int i = 1; i < 10; ++i)
        CHECK(clock.ended(uint64_t(100 - i)) == (i % 3 == 0));
    CHECK(clock.time_jumps() == 0);
}
