// SPDX-License-Identifier: MIT
// Means of runs and their differences.
#include "analyse/compare/estimate.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using nsdump::difference_of;
using nsdump::estimate_of;
using nsdump::Figure;

namespace
{
std::vector<Figure> runs_of(const std::vector<double> &values, double half95 = 0)
{
    std::vector<Figure> out;
    for (const double value : values) {
        Figure figure;
        figure.value = value;
        figure.half95 = half95;
        out.push_back(figure);
    }
    return out;
}
} // namespace

TEST_CASE("several runs on both sides are compared as Welch does", "[nsdump][compare]")
{
    // Student's sleep data (Biometrika 1908); t.test(extra ~ group, data = sleep) of R:
    // t = -1.8608, df = 17.776, p-value = 0.07939
    const auto first = runs_of({0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0});
    const auto second = runs_of({1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4});
    const auto difference = difference_of(estimate_of(first), estimate_of(second), 0.5);
    CHECK(difference.value == Approx(1.58));
    CHECK(difference.value / difference.standard_error == Approx(1.8608).epsilon(1e-4));
    CHECK(difference.degrees == Approx(17.776).epsilon(1e-4));
    CHECK(difference.p_value() == Approx(0.07939).epsilon(1e-3));
    CHECK_FALSE(difference.assumed_spread);
}

TEST_CASE("one run gets the variance between the runs of the other side", "[nsdump][compare]")
{
    const auto several = estimate_of(runs_of({98, 100, 102}, 0.01));
    for (const double value : {101.0, 99.0}) {
        const auto one = estimate_of(runs_of({value}, 0.01));
        for (const auto &difference :
             {difference_of(several, one, 0), difference_of(one, several, 0)}) {
            CHECK(difference.standard_error == Approx(2 * std::sqrt(1 + 1.0 / 3)));
            CHECK(difference.degrees == Approx(2));
        }
    }
}

TEST_CASE("one run on each side gets the assumed spread", "[nsdump][compare]")
{
    const auto first = estimate_of(runs_of({100}, 1.96)),
               second = estimate_of(runs_of({200}, 1.96));
    const auto difference = difference_of(first, second, 0.05);
    CHECK(difference.assumed_spread);
    CHECK(difference.standard_error == Approx(std::sqrt(1 + 1 + 25 + 100.0)));
    CHECK(difference_of(first, second, 0).standard_error == Approx(std::sqrt(2.0)));
}

TEST_CASE("runs that agree by chance have at least the error within them", "[nsdump][compare]")
{
    const auto alike = estimate_of(runs_of({100, 100.0001}, 1.96));
    CHECK(alike.standard_error() == Approx(1 / std::sqrt(2.0)));
    const auto apart = estimate_of(runs_of({100, 120}, 1.96));
    CHECK(apart.standard_error() == Approx(10));
    CHECK(apart.degrees() == Approx(1));
}

TEST_CASE("values without error are compared exactly", "[nsdump][compare]")
{
    const auto first = estimate_of(runs_of({302, 302})), second = estimate_of(runs_of({303}));
    const auto difference = difference_of(first, second, 0.05);
    CHECK(difference.is_exact);
    CHECK(difference.value == 1);
    CHECK(difference.p_value() == 0);
    CHECK(difference_of(first, first, 0.05).p_value() == 1);
    // one instruction in a million slices
    const auto more = estimate_of(runs_of({302 + 1e-6}));
    CHECK(difference_of(first, more, 0.05).p_value() == 0);
}

TEST_CASE("counts of all units are compared as they are, those of a sample are not",
          "[nsdump][compare]")
{
    std::vector<Figure> first = runs_of({302}, 5), second = first;
    first[0].is_whole = second[0].is_whole = true;
    CHECK(nsdump::are_whole(first, second));
    second[0].count = 7; // other input
    CHECK_FALSE(nsdump::are_whole(first, second));
    second[0].count = first[0].count;
    second[0].is_whole = false;
    CHECK_FALSE(nsdump::are_whole(first, second));
}
