// SPDX-License-Identifier: MIT
#include "cli/read/moment.hpp"

#include "support/catch.hpp"

using nsdump::is_moment;
using nsdump::moment_of;

TEST_CASE("a time since the start is seconds, or has its unit", "[nsdump][moment]")
{
    const std::pair<const char *, int64_t> cases[] = {{"0", 0},
                                                      {"1.5", 1'500'000'000},
                                                      {"1.5s", 1'500'000'000},
                                                      {"200ms", 200'000'000},
                                                      {"7us", 7'000},
                                                      {"7µs", 7'000},
                                                      {"12ns", 12},
                                                      {"2min", 120'000'000'000},
                                                      {"1h", 3'600'000'000'000}};
    for (const auto &[text, ns] : cases) {
        const auto moment = moment_of(text);
        INFO(text);
        REQUIRE(moment);
        CHECK_FALSE(moment->is_absolute);
        CHECK(moment->ns == ns);
    }
}

TEST_CASE("a time with a date is UTC", "[nsdump][moment]")
{
    const auto moment = moment_of("2026-11-29T12:00:00Z");
    REQUIRE(moment);
    CHECK(moment->is_absolute);
    CHECK(moment->ns == 1'795'953'600'000'000'000);
    const auto fraction = moment_of("2026-11-29T12:00:00.25Z");
    REQUIRE(fraction);
    CHECK(fraction->ns - moment->ns == 250'000'000);
}

TEST_CASE("what is no time is refused with examples", "[nsdump][moment]")
{
    for (const char *text :
         {"", "s", "-1s", "1.5.1", "5 s", "soon", "nan", "inf", "1e300h", "12:00",
          "2026-11-29T12:00:00", "2026-11-29T12:00:00+01:00", "2026-11-29T12:00:00.Z",
          "2026-13-29T12:00:00Z", "1926-11-29T12:00:00Z", "9999-01-01T00:00:00.1xZ"}) {
        INFO(text);
        CHECK_FALSE(moment_of(text));
        CHECK_THAT(is_moment(text), Catch::Matchers::Contains("is not a time") &&
                                        Catch::Matchers::Contains("200ms"));
    }
    CHECK(is_moment("1s").empty());
}
