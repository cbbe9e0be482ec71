// SPDX-License-Identifier: MIT
// Sampler: the share of packets that it keeps is the requested one.
#include "support/catch.hpp"

#include "functions/common/sampler.hpp"

using mapi::functions::PeriodicSampler;
using mapi::functions::ProbabilisticSampler;

TEST_CASE("every n-th packet is kept, however the packets are split into batches",
          "[mapi-core][functions]")
{
    const uint64_t period = GENERATE(1, 2, 3, 63, 64, 65, 1000);
    PeriodicSampler sampler(period);
    uint64_t seen = 0;
    uint64_t state = 1;
    while (seen < 20000) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t mask = state & (state >> 7);
        const uint64_t kept = sampler.sample(mask);
        REQUIRE((kept & ~mask) == 0);
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const bool is_kept = (kept & rest & -rest) != 0;
            REQUIRE(is_kept == (++seen % period == 0));
        }
    }
}

TEST_CASE("a probability of n percent keeps n percent, not n + 1", "[mapi-core][functions]")
{
    const int percent = GENERATE(1, 5, 50, 99);
    ProbabilisticSampler sampler(percent / 100.0, 42);
    const double packets = 64 * 20000;
    double kept = 0;
    for (int i = 0; i < 20000; ++i)
        kept += std::popcount(sampler.sample(~uint64_t(0)));
    const double share = percent / 100.0;
    const double sigma = std::sqrt(packets * share * (1 - share));
    CHECK(std::abs(kept - packets * share) < 5 * sigma);
}

TEST_CASE("100 percent keeps all", "[mapi-core][functions]")
{
    CHECK(ProbabilisticSampler(1.0, 1).sample(0xf0f0) == 0xf0f0);
}
