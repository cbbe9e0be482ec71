// SPDX-License-Identifier: MIT
#include "analyse/subtract.hpp"

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

TEST_CASE("an empty slice has nothing left", "[nsdump][subtract]")
{
    CHECK(nsdump::net_of(20, {}, constants()) == 0);
    CHECK(nsdump::subtracted_ci95({}, constants()) == 0.5);
}

TEST_CASE("every kind of probe inside is taken out with its own cost and widens the interval", "[nsdump][subtract]")
{
    const nsdump::ProbeCounts inside{2, 3, 4, 5};
    CHECK(nsdump::net_of(1000, inside, constants()) == 1000 - 20 - 2 * 40 - 3 * 21 - 4 * 22 - 5 * 23);
    CHECK(nsdump::subtracted_ci95(inside, constants()) == 0.5 + 2 + 6 + 12 + 20);
}

TEST_CASE("a net value below zero stays below zero", "[nsdump][subtract]")
{
    CHECK(nsdump::net_of(1, {1, 0, 0, 0}, constants()) == -59);
}

TEST_CASE("the net of the slices inside is the sum of their nets", "[nsdump][subtract]")
{
    // Two slices of 100 and 200, the second with a slice in it and a mark.
    const double sum = nsdump::net_of(100, {}, constants()) + nsdump::net_of(200, {1, 1, 0, 0}, constants());
    nsdump::ChildSums children;
    children.add(300, 2, {1, 1, 0, 0});
    CHECK(nsdump::children_net(children, constants()) == sum);
}
