// SPDX-License-Identifier: MIT
#include "export/timeline/monotonic_time.hpp"

#include "support/catch.hpp"

namespace
{
nsdump::Clock clock_at(double hz, uint64_t start_ticks, uint64_t start_mono_ns)
{
    nsdump::Clock clock;
    clock.hz = hz;
    clock.start_ticks = start_ticks;
    clock.start_mono_ns = start_mono_ns;
    return clock;
}
} // namespace

TEST_CASE("ticks before and after the start are rounded down to nanoseconds", "[nsdump][timeline]")
{
    const nsdump::MonotonicTime time(clock_at(2e9, 1000, 50));
    CHECK(time.ns(1000) == 50u);
    CHECK(time.ns(1003) == 51u);
    CHECK(time.ns(999) == 49u);
    CHECK(time.duration_ns(3) == 1.5);
}

TEST_CASE("nanoseconds are exact on a machine that has run for years", "[nsdump][timeline]")
{
    const uint64_t years_ns = (uint64_t{1} << 60) + 1; // a double would lose the one
    CHECK(nsdump::MonotonicTime(clock_at(1e9, 5, years_ns)).ns(6) == years_ns + 1);
}

TEST_CASE("times that a viewer cannot hold are none", "[nsdump][timeline]")
{
    const nsdump::MonotonicTime time(clock_at(1e6, 1000, 50));
    CHECK_FALSE(time.ns(0).has_value());
    CHECK_FALSE(time.ns(1000 + (uint64_t{1} << 62)).has_value());
    CHECK_FALSE(nsdump::MonotonicTime(clock_at(1e-300, 0, 0)).ns(1000).has_value());
}

TEST_CASE("without the clock's rate a tick is a nanosecond", "[nsdump][timeline]")
{
    CHECK(nsdump::MonotonicTime(clock_at(0, 0, 0)).ns(123) == 123u);
}
