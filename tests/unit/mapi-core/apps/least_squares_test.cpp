// SPDX-License-Identifier: MIT
// least_squares: known unknowns are recovered; what is not determined is not invented.
#include "support/catch.hpp"

#include <cmath>

#include "mapi_cost/model/least_squares.hpp"

using namespace mapi_cost;

namespace
{
// y = 3 + 2 x, at distances that give columns of very different size.
std::vector<Equation> line(double error)
{
    std::vector<Equation> equations;
    for (const double x : {0.0, 64.0, 512.0, 1500.0})
        equations.push_back({{1, x}, 3 + 2 * x, error});
    return equations;
}
} // namespace

TEST_CASE("unknowns that satisfy the equations exactly are recovered exactly",
          "[mapi_cost][least_squares]")
{
    const auto solved = solve(line(0.5), {{1, 0}, {0, 1}, {1, 10}});

    CHECK(solved[0]->value == Approx(3));
    CHECK(solved[1]->value == Approx(2));
    CHECK(solved[2]->value == Approx(23));
}

TEST_CASE("an equation with a tenth of the error counts a hundred times as much",
          "[mapi_cost][least_squares]")
{
    const auto solved = solve({{{1}, 10, 0.1}, {{1}, 20, 1}}, {{1}});

    CHECK(solved[0]->value == Approx((100 * 10 + 20) / 101.0));
    CHECK(solved[0]->ci95 == Approx(1 / std::sqrt(101.0)));
}

TEST_CASE("the prediction for an equation is the fit without it", "[mapi_cost][least_squares]")
{
    std::vector<Equation> equations = line(0.5);
    equations[2].value += 40;
    const CrossCheck check = cross_check(equations);
    for (std::size_t i = 0; i < equations.size(); ++i) {
        std::vector<Equation> rest = equations;
        rest.erase(rest.begin() + std::ptrdiff_t(i));
        const auto without = solve(rest, {equations[i].coefficients});
        CHECK(check.others[i]->value == Approx(without[0]->value));
        CHECK(check.others[i]->ci95 == Approx(without[0]->ci95));
    }
    CHECK_FALSE(check.do_agree);
    CHECK(check.rank == 2);
}

TEST_CASE("unknowns that only occur together cannot be separated, but their sum is known",
          "[mapi_cost][least_squares]")
{
    const auto solved = solve({{{1, 0, 0}, 5, 1}, {{1, 1, 1}, 12, 1}},
                              {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}});

    CHECK(solved[0]->value == Approx(5));
    CHECK_FALSE(solved[1]);
    CHECK_FALSE(solved[2]);
    CHECK(solved[3]->value == Approx(7));
    CHECK(solved[3]->ci95 == Approx(std::sqrt(2.0)));
}

TEST_CASE("there is no prediction for an equation that is the only one with an unknown",
          "[mapi_cost][least_squares]")
{
    const CrossCheck check = cross_check({{{1, 0}, 5, 1}, {{1, 0}, 5.5, 1}, {{1, 1}, 12, 1e-4}});

    CHECK(check.others[0]->value == Approx(5.5));
    CHECK_FALSE(check.others[2]);
    CHECK(check.do_agree);
}
