// SPDX-License-Identifier: MIT
#include "analyse/statistics/moments.hpp"

#include <vector>

#include "support/catch.hpp"

TEST_CASE("the spread of values far from zero is accurate", "[nsdump][moments]")
{
    nsdump::Moments moments;
    uint64_t count = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        ++count;
        moments.add(1e12 + i % 3, 1, count);
    }
    CHECK(moments.sd(count) == Approx(0.8164966).epsilon(1e-4));
    CHECK(moments.min() == 1e12);
    CHECK(moments.max() == 1e12 + 2);
}

TEST_CASE("the mean of whole numbers is exact", "[nsdump][moments]")
{
    nsdump::Moments moments;
    for (uint64_t i = 1; i <= 3'000'000; ++i)
        moments.add(1'000'003, 1, i);
    CHECK(moments.mean(3'000'000) == 1'000'003);
    CHECK(moments.sd(3'000'000) == 0);
    CHECK(moments.sum() == 3'000'000.0 * 1'000'003);
}

TEST_CASE("one value has no spread, and no values have no mean", "[nsdump][moments]")
{
    nsdump::Moments moments;
    CHECK(moments.mean(0) == 0);
    moments.add(5, 1, 1);
    CHECK(moments.sd(1) == 0);
}

TEST_CASE("a value added with a count equals as many single values", "[nsdump][moments]")
{
    nsdump::Moments single, together;
    uint64_t count = 0, count_together = 0;
    for (const uint64_t times : {3, 1, 7, 2}) {
        const double value = 100 + 13.5 * double(times);
        for (uint64_t i = 0; i < times; ++i) {
            ++count;
            single.add(value, 1, count);
        }
        count_together += times;
        together.add(value, times, count_together);
    }
    CHECK(together.sum() == single.sum());
    CHECK(together.sd(count) == Approx(single.sd(count)).epsilon(1e-12));
    CHECK(together.max() == single.max());
}

TEST_CASE("values that were summed elsewhere give the mean and spread of single ones",
          "[nsdump][moments]")
{
    nsdump::Moments single, merged;
    uint64_t total = 0;
    for (const double first : {1'000'000.0, 1'000'100.0, -50.0}) {
        double distances = 0, squares = 0;
        for (int i = 0; i < 7; ++i) {
            single.add(first + i, 1, ++total);
            distances += i;
            squares += i * i;
        }
        merged.merge(first, distances, squares, 7, total);
    }
    CHECK(merged.sum() == single.sum());
    CHECK(merged.sd(total) == Approx(single.sd(total)).epsilon(1e-12));
}

TEST_CASE("merged moments are those of all values", "[nsdump][moments]")
{
    nsdump::Moments whole, first, second;
    uint64_t firsts = 0, seconds = 0;
    for (int i = 0; i < 1000; ++i) {
        const double value = 100 + i % 37 * (i < 300 ? 1 : 5);
        whole.add(value, 1, uint64_t(i) + 1);
        if (i < 300)
            first.add(value, 1, ++firsts);
        else
            second.add(value, 1, ++seconds);
    }
    first.merge(second, seconds, firsts + seconds);
    first.merge({}, 0, firsts + seconds);
    CHECK(first.sum() == whole.sum());
    CHECK(first.sd(1000) == Approx(whole.sd(1000)));
    CHECK(first.min() == whole.min());
    CHECK(first.max() == whole.max());
}
