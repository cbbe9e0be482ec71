// SPDX-License-Identifier: MIT
#include "qos/analyse/measure.hpp"

#include "support/catch.hpp"

namespace
{
using qos::Passage;
constexpr int64_t kMs = 1000000;

// delay_ms < 0: lost.
Passage passage(int64_t sent_ms, int64_t delay_ms, uint32_t copies = 1)
{
    if (delay_ms < 0)
        return {sent_ms * kMs, 0, 0, 0, 0};
    return {sent_ms * kMs, (sent_ms + delay_ms) * kMs, double(delay_ms * kMs), 0, copies};
}
} // namespace

TEST_CASE("lost packets and further copies are counted", "[mapi-core][qos]")
{
    const auto found =
        qos::measure({passage(0, 5), passage(1, -1), passage(2, 5, 3), passage(3, 5)}, 1);
    CHECK(found.sent == 4);
    CHECK(found.received == 3);
    CHECK(found.lost == 1);
    CHECK(found.loss() == 0.25);
    CHECK(found.duplicates == 2);
    CHECK(found.reordered == 0);
}

TEST_CASE("a packet is reordered if a later one has arrived before (RFC 4737)", "[mapi-core][qos]")
{
    // Arrival: 0, 3, 1, 2, 4 -> 1 and 2 are late.
    const auto found = qos::measure(
        {passage(0, 5), passage(10, 40), passage(20, 35), passage(30, 5), passage(60, 5)}, 1);
    CHECK(found.reordered == 2);
}

TEST_CASE("variation and jitter are of packets in the order of arrival", "[mapi-core][qos]")
{
    // Delays in the order of arrival: 5, 9, 1 ms.
    const auto found = qos::measure({passage(0, 5), passage(10, 9), passage(20, 1)}, 1);
    REQUIRE(found.variation);
    CHECK(found.variation->pairs == 2);
    CHECK(found.variation->mean_abs_ms == 6);
    CHECK(found.variation->min_ms == -8);
    CHECK(found.variation->max_ms == 4);
    CHECK(found.variation->jitter_ms == 4.0 / 16 + (8 - 4.0 / 16) / 16);
}

TEST_CASE("percentiles are values that were measured", "[mapi-core][qos]")
{
    std::vector<Passage> list;
    for (int i = 1; i <= 100; ++i)
        list.push_back(passage(i * 1000, i));
    const auto found = qos::measure(list, 1);
    REQUIRE(found.delays);
    CHECK(found.delays->min_ms == 1);
    CHECK(found.delays->max_ms == 100);
    CHECK(found.delays->mean_ms == 50.5);
    CHECK(found.delays->p50_ms == 51);
    CHECK(found.delays->p95_ms == 96);
    CHECK(found.delays->mean_interval_ms.low == found.delays->mean_interval_ms.high);
}

TEST_CASE("without an arrival there is no delay, with one no variation", "[mapi-core][qos]")
{
    CHECK_FALSE(qos::measure({}, 1).delays);
    CHECK_FALSE(qos::measure({passage(0, -1)}, 1).delays);
    const auto one = qos::measure({passage(0, 3)}, 0.5);
    REQUIRE(one.delays);
    CHECK(one.delays->p99_ms == 3);
    CHECK_FALSE(one.variation);
}
