// SPDX-License-Identifier: MIT
#include "analyse/statistics/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "support/catch.hpp"

using nsdump::Histogram;

TEST_CASE("percentiles are accurate to one per cent over twelve powers of ten",
          "[nsdump][histogram]")
{
    std::mt19937 random(3);
    std::lognormal_distribution<double> draw(10, 4);
    Histogram histogram;
    std::vector<double> values(200000);
    for (double &value : values)
        histogram.add(value = std::floor(draw(random)) + 1);
    std::sort(values.begin(), values.end());
    for (const double share : {0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const auto rank = size_t(std::ceil(share * 200000.0)) - 1;
        CHECK(histogram.quantile(share) == Approx(values[rank]).epsilon(0.01));
    }
}

TEST_CASE("whole numbers below 128 are exact", "[nsdump][histogram]")
{
    for (int value = 1; value < 128; ++value) {
        Histogram histogram;
        histogram.add(value);
        REQUIRE(histogram.quantile(0.5) == value);
    }
}

TEST_CASE("values below zero are placed below zero", "[nsdump][histogram]")
{
    Histogram histogram;
    for (int value = -100; value <= 100; ++value)
        histogram.add(value);
    CHECK(histogram.quantile(0.5) == Approx(0).margin(0.001));
    CHECK(histogram.quantile(0.01) == Approx(-98).epsilon(0.02));
    CHECK(histogram.quantile(0.25) == Approx(-50).epsilon(0.02));
    const auto buckets = histogram.buckets();
    CHECK(std::is_sorted(buckets.begin(), buckets.end(),
                         [](auto &a, auto &b) { return a.low < b.low; }));
    uint64_t sum = 0;
    for (const nsdump::Bucket &bucket : buckets) {
        CHECK(bucket.low <= bucket.high);
        sum += bucket.count;
    }
    CHECK(sum == 201);
    CHECK(histogram.total() == 201);
}

TEST_CASE("every value lies in its bucket", "[nsdump][histogram]")
{
    double value = 0.001;
    while (value < 1e18) {
        Histogram histogram;
        histogram.add(value);
        const auto buckets = histogram.buckets();
        REQUIRE(buckets.size() == 1);
        REQUIRE(buckets[0].low <= value);
        REQUIRE(value < buckets[0].high);
        REQUIRE(buckets[0].high / buckets[0].low <= 1 + 1.0 / 64);
        value *= 1.37;
    }
}

TEST_CASE("memory is bounded whatever is added", "[nsdump][histogram]")
{
    Histogram histogram;
    for (const double value :
         {0.0, -0.0, 1e-300, 1e300, -1e300, std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        histogram.add(value);
    CHECK(histogram.total() == 8);
    CHECK(histogram.buckets().size() == 3);
    CHECK(std::isfinite(histogram.quantile(1)));
}

TEST_CASE("an empty histogram has no percentile", "[nsdump][histogram]")
{
    CHECK(Histogram().quantile(0.5) == 0);
    CHECK(Histogram().buckets().empty());
}

TEST_CASE("a trimmed mean ignores what a stolen CPU does to a few values", "[nsdump][histogram]")
{
    Histogram calm, disturbed;
    for (int i = 0; i < 1000; ++i) {
        calm.add(100 + i % 11);
        disturbed.add(i % 50 == 0 ? 1e7 : 100 + i % 11);
    }
    CHECK(calm.trimmed_mean(0.05, 0).mean == Approx(105).margin(0.1));
    CHECK(disturbed.trimmed_mean(0.05, 0).mean == Approx(105).margin(0.3));
    CHECK(disturbed.trimmed_mean(0.05, 0).standard_error < 0.2);
    CHECK(calm.trimmed_mean(0, 0).mean == Approx(104.985).margin(0.01));
}

TEST_CASE("a trimmed mean keeps the rarer of the two values that a clock with steps reads",
          "[nsdump][histogram]")
{
    Histogram histogram;
    for (int i = 0; i < 1000; ++i)
        histogram.add(i % 25 == 0 ? 156 : 130); // a duration of 131.04 and a step of 26
    histogram.add(1e7);
    histogram.add(40);
    CHECK(histogram.trimmed_mean(0.05, 0).mean == 130);
    CHECK(histogram.trimmed_mean(0.05, 26).mean == Approx(131.04));
    CHECK(histogram.trimmed_mean(0.05, 26).kept == 1000);
}

TEST_CASE("rounding biases a trimmed mean by up to a step for each value cut off at one end",
          "[nsdump][histogram]")
{
    Histogram histogram;
    for (int i = 0; i < 1000; ++i)
        histogram.add(i % 25 == 0 ? 156 : 130);
    CHECK(histogram.trimmed_mean(0.05, 26).rounding_bound == 0);
    for (int i = 0; i < 20; ++i)
        histogram.add(1e7);
    for (int i = 0; i < 10; ++i)
        histogram.add(40);
    CHECK(histogram.trimmed_mean(0.05, 26).kept == 1000);
    CHECK(histogram.trimmed_mean(0.05, 26).rounding_bound == Approx(26 * 0.02));
    for (int i = 0; i < 100; ++i)
        histogram.add(1e7 * (2 + i)); // more than are cut off
    CHECK(histogram.trimmed_mean(0.05, 26).rounding_bound == Approx(26 * 56.0 / 1064));
}

TEST_CASE("the error of the trimmed mean includes the spread of values that share a bucket",
          "[nsdump][histogram]")
{
    // 100,000 and values close to it: a bucket is 1024 wide there, the spread is 20
    for (const double sign : {1.0, -1.0}) {
        nsdump::Histogram histogram;
        std::vector<double> values;
        for (int i = 0; i < 2000; ++i)
            values.push_back(sign * (100'000 + (i * 37 % 69) - 34)); // evenly from -34 to 34
        double squares = 0;
        for (const double value : values) {
            histogram.add(value);
            squares += (std::fabs(value) - 100'000) * (std::fabs(value) - 100'000);
        }
        const nsdump::TrimmedMean plain = histogram.trimmed_mean(0, 0);
        CHECK(plain.kept == 2000);
        CHECK(plain.standard_error == Approx(std::sqrt(squares / 1999 / 2000)).epsilon(0.01));
        const nsdump::TrimmedMean trimmed = histogram.trimmed_mean(0.05, 0);
        CHECK(trimmed.kept == 1800);
        CHECK(trimmed.mean == Approx(sign * 100'000).margin(0.5));
        CHECK(trimmed.standard_error == Approx(plain.standard_error).epsilon(0.1));
    }
}

TEST_CASE("merged histograms have the buckets of all values", "[nsdump][histogram]")
{
    std::mt19937 random(5);
    std::lognormal_distribution<double> draw(3, 3);
    Histogram whole, low, high;
    for (int i = 0; i < 20'000; ++i) {
        const double value = i % 10 == 0 ? 0 : (i % 3 == 0 ? -1 : 1) * draw(random);
        whole.add(value);
        (value < 10 ? low : high).add(value);
    }
    high.merge(low);
    const auto a = high.buckets(), b = whole.buckets();
    REQUIRE(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) {
        REQUIRE(a[i].low == b[i].low);
        REQUIRE(a[i].count == b[i].count);
        REQUIRE(a[i].sum == Approx(b[i].sum));
        REQUIRE(a[i].squares == Approx(b[i].squares).margin(1e-9));
    }
    CHECK(high.total() == whole.total());
}
