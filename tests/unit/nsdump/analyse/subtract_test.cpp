// SPDX-License-Identifier: MIT
#include "analyse/correct/subtract.hpp"

#include <cmath>

#include "support/catch.hpp"

namespace
{
nsdump::FieldConstants constants()
{
    nsdump::FieldConstants out;
    out.is_known = true;
    out.inner = 20;
    out.inner_ci95 = 0.5;
    out.outer = {40, 21, 22, 23};
    out.outer_ci95 = {1, 2, 3, 4};
    return out;
}
} // namespace

TEST_CASE("nothing is left of an empty slice", "[nsdump][subtract]")
{
    CHECK(nsdump::net_of(20, {}, constants()) == 0);
    CHECK(nsdump::subtracted_widths({}, constants()).ci95 == Approx(0.5));
}

TEST_CASE("every kind of probe inside is subtracted with its own cost", "[nsdump][subtract]")
{
    const nsdump::ProbeCounts inside{4, 3, 4, 5};
    CHECK(nsdump::net_of(1000, inside, constants()) ==
          1000 - 20 - 2 * 40 - 3 * 21 - 4 * 22 - 5 * 23);
}

TEST_CASE("a constant's error is multiplied by its number of probes; kinds are independent",
          "[nsdump][subtract]")
{
    // inner and outer of the pair are from the same batches, 0.5 + 2 * 1; the others are
    // independent: 6, 12, 20
    CHECK(nsdump::subtracted_widths({4, 3, 4, 5}, constants()).ci95 ==
          Approx(std::sqrt(2.5 * 2.5 + 36 + 144 + 400)));
}

TEST_CASE("the possible error of the constants is a bound and adds up over all kinds",
          "[nsdump][subtract]")
{
    nsdump::FieldConstants moving = constants();
    moving.inner_bound = 0.25;
    moving.outer_bound = {1, 2, 3, 4};
    CHECK(nsdump::subtracted_error(1, {4, 3, 4, 5}, moving).bound == 0.25 + 2 + 6 + 12 + 20);
    CHECK(nsdump::subtracted_widths({}, moving).ci95 == Approx(0.5));
    CHECK(nsdump::subtracted_widths({}, moving).bound == 0.25);
}

TEST_CASE("errors of CPUs measured separately are independent, of those that share constants not",
          "[nsdump][subtract]")
{
    nsdump::SubtractedErrors apart, together;
    for (const uint32_t cpu : {0u, 1u}) {
        nsdump::FieldConstants own = constants();
        own.source = cpu;
        apart.add(own, nsdump::subtracted_error(1, {}, constants()));
        together.add(constants(), nsdump::subtracted_error(1, {}, constants()));
    }
    CHECK(apart.uncertainty().ci95() == Approx(0.5 * std::sqrt(2.0)));
    CHECK(together.uncertainty().ci95() == Approx(1.0));
}

TEST_CASE("a net value below zero stays below zero", "[nsdump][subtract]")
{
    CHECK(nsdump::net_of(1, {2, 0, 0, 0}, constants()) == -59);
}

TEST_CASE("the net value of the slices inside is the sum of their net values", "[nsdump][subtract]")
{
    // Two slices of 100 and 200, the second with a slice in it and a mark.
    const double sum =
        nsdump::net_of(100, {}, constants()) + nsdump::net_of(200, {2, 1, 0, 0}, constants());
    nsdump::ChildSums children;
    children.add(300, 2, {2, 1, 0, 0});
    CHECK(nsdump::children_net(children, constants()) == sum);
}
