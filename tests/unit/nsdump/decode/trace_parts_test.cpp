// SPDX-License-Identifier: MIT
#include "decode/trace_parts.hpp"

#include "support/catch.hpp"

TEST_CASE("a total grows by what was added to it, and never by less than nothing",
          "[nsdump][parts]")
{
    constexpr uint64_t kMost = ~uint64_t{0};
    CHECK(nsdump::growth(0, 0) == 0);
    CHECK(nsdump::growth(3, 10) == 7);
    CHECK(nsdump::growth(7, 7) == 0);
    CHECK(nsdump::growth(10, 3) == 0); // of a damaged or hostile trace
    CHECK(nsdump::growth(0, kMost) == kMost);
    CHECK(nsdump::growth(kMost, 0) == 0);
}
