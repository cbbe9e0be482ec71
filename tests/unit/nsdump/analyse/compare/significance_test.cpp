// SPDX-License-Identifier: MIT
// Student's t and Holm's method against published values.
#include "analyse/compare/significance.hpp"

#include <catch2/catch.hpp>

#include "analyse/correct/student.hpp"

using nsdump::holm_adjusted;
using nsdump::student_p;

TEST_CASE("p-values of Student's t agree with its tables", "[nsdump][compare]")
{
    // Quantiles of any book's table: degrees, t, two-sided p.
    const double table[][3] = {{1, 12.706, 0.05},  {1, 63.657, 0.01}, {2, 4.303, 0.05},
                               {5, 4.032, 0.01},   {10, 2.228, 0.05}, {10, 4.587, 0.001},
                               {30, 2.042, 0.05},  {30, 0.683, 0.5},  {120, 2.617, 0.01},
                               {1000, 1.962, 0.05}};
    for (const auto &[degrees, t, p] : table) {
        CAPTURE(degrees, t);
        CHECK(student_p(t, degrees) == Approx(p).epsilon(0.002));
        CHECK(student_p(-t, degrees) == Approx(student_p(t, degrees)));
    }
    CHECK(student_p(1.959964, nsdump::kManyDegrees) == Approx(0.05).epsilon(1e-5));
}

TEST_CASE("p-values stay between 0 and 1 for any t and degrees", "[nsdump][compare]")
{
    CHECK(student_p(0, 3) == Approx(1));
    CHECK(student_p(1e300, 3) == Approx(0));
    CHECK(student_p(40, 1e6) == Approx(0));
    CHECK(student_p(2, 0) == 1);
    CHECK(student_p(1, 2e7) == Approx(student_p(1, 9e6)).epsilon(1e-6));
}

TEST_CASE("Holm's method multiplies each p-value by the number of larger ones", "[nsdump][compare]")
{
    // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") of R
    const auto adjusted = holm_adjusted({0.01, 0.04, 0.03, 0.005});
    CHECK(adjusted[0] == Approx(0.03));
    CHECK(adjusted[1] == Approx(0.06));
    CHECK(adjusted[2] == Approx(0.06));
    CHECK(adjusted[3] == Approx(0.02));
    CHECK(holm_adjusted({}).empty());
    CHECK(holm_adjusted({0.9, 0.8})[0] == 1);
}
