// SPDX-License-Identifier: MIT
// The design of random thinning: what is off in an epoch, and how long epochs last.
#include "support/catch.hpp"

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "common/thin/arms.h"

namespace
{
constexpr int kDraws = 20000;

// Names 0 (outermost), 1 and 2 inside it, 3 inside 2.
struct Nested {
    nsp_nesting nesting{};
    nsp_arms arms{};

    explicit Nested(uint32_t permille, uint64_t seed = 1)
    {
        nesting.level[1] = nesting.level[2] = 1;
        nesting.level[3] = 2;
        nesting.levels = 2;
        nesting.inner_count = 3;
        for (uint8_t i = 0; i < 3; ++i)
            nesting.inner[i] = uint8_t(i + 1);
        nsp_arms_seed(&arms, seed, permille);
    }

    std::set<int> draw()
    {
        uint8_t off[NSP_THIN_NAMES];
        std::set<int> names;
        const int is_thinned = nsp_arms_draw(&arms, &nesting, off);
        for (int name = 0; name < NSP_THIN_NAMES; ++name)
            if (off[name])
                names.insert(name);
        CHECK(is_thinned == !names.empty());
        return names;
    }

    std::map<std::set<int>, int> draws()
    {
        std::map<std::set<int>, int> counts;
        for (int i = 0; i < kDraws; ++i)
            ++counts[draw()];
        return counts;
    }
};

bool is_about(double value, double expected, double share)
{
    return std::fabs(value - expected) <= share * expected;
}
} // namespace

TEST_CASE("the requested share of epochs has names off, all from a level on or one of them",
          "[libnsprobe][thin]")
{
    Nested nested(400);
    auto counts = nested.draws();
    CHECK(is_about(counts[{}], 0.6 * kDraws, 0.05));
    CHECK(is_about(counts[std::set{1, 2, 3}], 0.1 * kDraws, 0.1));       // from level 1 on
    CHECK(is_about(counts[std::set{3}], (0.1 + 0.2 / 3) * kDraws, 0.1)); // level 2, or alone
    CHECK(is_about(counts[std::set{1}], 0.2 / 3 * kDraws, 0.1));
    CHECK(is_about(counts[std::set{2}], 0.2 / 3 * kDraws, 0.1));
    CHECK(counts.size() == 5);
}

TEST_CASE("nothing is off at share 0, something in every epoch at share 1", "[libnsprobe][thin]")
{
    CHECK(Nested(0).draws().size() == 1);
    CHECK(!Nested(1000).draws().contains({}));
}

TEST_CASE("nothing is off while no name is known to lie inside another", "[libnsprobe][thin]")
{
    Nested nested(1000);
    nested.nesting.inner_count = 0;
    CHECK(nested.draw().empty());
}

TEST_CASE("the same seed draws the same epochs, another seed draws others", "[libnsprobe][thin]")
{
    const auto sequence = [](uint64_t seed) {
        Nested nested(500, seed);
        std::vector<std::set<int>> drawn;
        for (int i = 0; i < 100; ++i)
            drawn.push_back(nested.draw());
        return drawn;
    };
    CHECK(sequence(7) == sequence(7));
    CHECK(sequence(7) != sequence(8));
}

TEST_CASE("lengths of epochs are exponential with a mean that grows with the session's age",
          "[libnsprobe][thin]")
{
    Nested nested(500);
    const auto mean_ms = [&](uint64_t age_ns) {
        double sum = 0, shortest = 1e18, longest = 0;
        for (int i = 0; i < kDraws; ++i) {
            const double ms = double(nsp_arms_length_ns(&nested.arms, age_ns)) / 1e6;
            sum += ms;
            shortest = std::min(shortest, ms);
            longest = std::max(longest, ms);
        }
        CHECK(shortest > 0.1);
        CHECK(longest <= 400);
        return sum / kDraws;
    };
    // The mean of an exponential distribution that is limited to 1/8 and 4 times its mean.
    const double limited = std::exp(-0.125) + 0.125 - std::exp(-4.0);
    CHECK(is_about(mean_ms(0), limited, 0.03));
    CHECK(is_about(mean_ms(10'000'000'000), 10 * limited, 0.03));
    CHECK(is_about(mean_ms(3'600'000'000'000), 100 * limited, 0.03));
}
