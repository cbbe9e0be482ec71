// SPDX-License-Identifier: MIT
// Value statistics: exact where numbers fit, plausible where they do not.
#include "functions/values/value_stats.hpp"

#include "support/catch.hpp"

using mapi::functions::ValueStats;

namespace
{
mapi_value_stats_t written(const ValueStats &stats)
{
    mapi_value_stats_t result{};
    stats.write(result);
    return result;
}
} // namespace

TEST_CASE("no values give zeros, one value gives itself", "[mapi-core][functions]")
{
    ValueStats stats;
    CHECK(written(stats).count == 0);
    CHECK(written(stats).min == 0);
    stats.take(7);
    CHECK(written(stats).min == 7);
    CHECK(written(stats).max == 7);
    CHECK(written(stats).sum2 == 49);
}

TEST_CASE("adding a value many times at once equals adding it one by one", "[mapi-core][functions]")
{
    ValueStats once, each;
    once.take(1500, 1000);
    once.take(3);
    for (int i = 0; i < 1000; ++i)
        each.take(1500);
    each.take(3);
    CHECK(written(once).count == written(each).count);
    CHECK(written(once).sum == written(each).sum);
    CHECK(written(once).sum2 == written(each).sum2);
    CHECK(written(once).min == 3);
}

TEST_CASE("squares of the largest values do not overflow", "[mapi-core][functions]")
{
    ValueStats stats;
    stats.take(UINT64_MAX, 1000);
    const long double greatest = static_cast<long double>(UINT64_MAX);
    CHECK(written(stats).sum == greatest * 1000);
    CHECK(written(stats).sum2 > greatest * greatest * 999);
    CHECK(written(stats).sum2 < greatest * greatest * 1001);
}
