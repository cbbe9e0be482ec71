// SPDX-License-Identifier: MIT
// impairment: seed, direction and number of a packet -> what happens to it.
#include "support/catch.hpp"

#include <algorithm>

#include "impairment.hpp"

using namespace impair;

namespace
{
constexpr uint64_t kPackets = 100'000;
constexpr uint64_t kMicrosecondNs = 1000;

template <class Is> double share(const Impairment &impairment, Is is)
{
    uint64_t count = 0;
    for (uint64_t number = 0; number < kPackets; ++number)
        count += is(choose(impairment, 1, kForward, number));
    return double(count) / double(kPackets);
}
} // namespace

TEST_CASE("each impairment happens as often as it should", "[impair][impairment]")
{
    const Impairment impairment = {.loss = 0.2, .duplicate = 0.1, .reorder = 0.05};
    CHECK(share(impairment, [](const Choice &one) { return one.is_lost; }) ==
          Approx(0.2).margin(0.006));
    CHECK(share(impairment, [](const Choice &one) { return one.is_duplicated; }) ==
          Approx(0.8 * 0.1).margin(0.005));
    CHECK(share(impairment, [](const Choice &one) { return one.is_reordered; }) ==
          Approx(0.8 * 0.05).margin(0.004));
    CHECK(share(impairment, [](const Choice &one) {
              return one.is_reordered && one.is_duplicated;
          }) == Approx(0.8 * 0.005).margin(0.0015));
}

TEST_CASE("probabilities of 0 and 1 are exact", "[impair][impairment]")
{
    const auto is_lost = [](const Choice &one) { return one.is_lost; };
    CHECK(share({.loss = 0}, is_lost) == 0);
    CHECK(share({.loss = 1}, is_lost) == 1);
}

TEST_CASE("losses follow each other no more than by chance", "[impair][impairment]")
{
    const Impairment impairment = {.loss = 0.3};
    uint64_t pairs = 0;
    for (uint64_t number = 0; number < kPackets; ++number)
        pairs += choose(impairment, 5, kForward, number).is_lost &&
                 choose(impairment, 5, kForward, number + 1).is_lost;
    CHECK(double(pairs) / double(kPackets) == Approx(0.09).margin(0.004));
}

TEST_CASE("jitter is even around the delay", "[impair][impairment]")
{
    const Impairment impairment = {.delay_ns = 100 * kMicrosecondNs,
                                   .jitter_ns = 40 * kMicrosecondNs};
    uint64_t least = UINT64_MAX, most = 0, sum = 0;
    for (uint64_t number = 0; number < kPackets; ++number) {
        const uint64_t delay = choose(impairment, 1, kForward, number).delay_ns;
        least = std::min(least, delay);
        most = std::max(most, delay);
        sum += delay;
    }
    CHECK(least >= 60 * kMicrosecondNs);
    CHECK(least < 61 * kMicrosecondNs);
    CHECK(most <= 140 * kMicrosecondNs);
    CHECK(most > 139 * kMicrosecondNs);
    CHECK(double(sum) / double(kPackets) == Approx(100'000).epsilon(0.003));
}

TEST_CASE("seeds and directions have choices of their own", "[impair][impairment]")
{
    const Impairment impairment = {.loss = 0.5};
    uint64_t by_seed = 0, by_direction = 0;
    for (uint64_t number = 0; number < kPackets; ++number) {
        const bool is_lost = choose(impairment, 1, kForward, number).is_lost;
        CHECK(choose(impairment, 1, kForward, number).is_lost == is_lost);
        by_seed += choose(impairment, 2, kForward, number).is_lost == is_lost;
        by_direction += choose(impairment, 1, kBackward, number).is_lost == is_lost;
    }
    CHECK(double(by_seed) / double(kPackets) == Approx(0.5).margin(0.01));
    CHECK(double(by_direction) / double(kPackets) == Approx(0.5).margin(0.01));
}
