// SPDX-License-Identifier: MIT
// additive_fit: known unknowns are recovered, what is not determined is not invented, and equations
// that do not follow the model do not change it.
#include "support/catch.hpp"

#include <cmath>

#include "mapi_cost/model/additive_fit.hpp"

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
          "[mapi_cost][additive_fit]")
{
    const auto solved = solve(line(0.5), {{1, 0}, {0, 1}, {1, 10}});

    CHECK(solved[0]->value == Approx(3));
    CHECK(solved[1]->value == Approx(2));
    CHECK(solved[2]->value == Approx(23));
}

TEST_CASE("an equation with a tenth of the error counts a hundred times as much",
          "[mapi_cost][additive_fit]")
{
    const auto solved = solve({{{1}, 10, 0.1}, {{1}, 20, 1}}, {{1}});

    CHECK(solved[0]->value == Approx((100 * 10 + 20) / 101.0));
    CHECK(solved[0]->ci95 == Approx(1 / std::sqrt(101.0)));
}

TEST_CASE("the prediction for an equation is the fit without it", "[mapi_cost][additive_fit]")
{
    std::vector<Equation> equations = line(0.5);
    equations[2].value += 40;
    const CrossCheck check = cross_check(equations);
    for (size_t i = 0; i < equations.size(); ++i) {
        std::vector<Equation> rest = equations;
        rest.erase(rest.begin() + ptrdiff_t(i));
        const auto without = solve(rest, {equations[i].coefficients});
        CHECK(check.others[i]->value == Approx(without[0]->value));
        CHECK(check.others[i]->ci95 == Approx(without[0]->ci95));
    }
    CHECK_FALSE(check.do_agree);
    CHECK(check.rank == 2);
}

TEST_CASE("unknowns that only occur together cannot be separated, but their sum is known",
          "[mapi_cost][additive_fit]")
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
          "[mapi_cost][additive_fit]")
{
    const CrossCheck check = cross_check({{{1, 0}, 5, 1}, {{1, 0}, 5.5, 1}, {{1, 1}, 12, 1e-4}});

    CHECK(check.others[0]->value == Approx(5.5));
    CHECK_FALSE(check.others[2]);
    CHECK(check.do_agree);
}

namespace
{
// Two unknowns, 10 and 0.5, in eight equations; the first defines the first unknown.
std::vector<Equation> equations_of_a_line()
{
    std::vector<Equation> equations = {{{1, 0}, 10, 0.1, true}};
    for (const double x : {64.0, 128.0, 256.0, 512.0, 768.0, 1024.0, 1500.0})
        equations.push_back({{1, x}, 10 + 0.5 * x, 1});
    return equations;
}
} // namespace

TEST_CASE("equations that agree are all in the fit", "[mapi_cost][additive_fit]")
{
    const AdditiveFit fit = additive_fit(equations_of_a_line());

    CHECK(fit.unknowns[0]->value == Approx(10));
    CHECK(fit.unknowns[1]->value == Approx(0.5));
    CHECK(fit.is_left_out == std::vector<bool>(8, false));
    CHECK(fit.spare == 6);
    CHECK(fit.do_agree);
}

TEST_CASE("two bad equations that support each other are left out and change nothing",
          "[mapi_cost][additive_fit]")
{
    auto equations = equations_of_a_line();
    equations[6].value = 10 + 0.1 * 1024;
    equations[7].value = 10 + 0.1 * 1500;
    equations[7].error = 0.2; // the most accurate of all
    const AdditiveFit fit = additive_fit(equations);

    CHECK(fit.unknowns[1]->value == Approx(0.5));
    CHECK(fit.is_left_out ==
          std::vector<bool>{false, false, false, false, false, false, true, true});
    CHECK(fit.others[7]->value == Approx(760));
    CHECK(fit.do_agree);
}

TEST_CASE("an equation that defines an unknown stays, and those that contradict it are left out",
          "[mapi_cost][additive_fit]")
{
    const AdditiveFit fit = additive_fit(
        {{{1, 0}, 10, 0.1, true}, {{1, 1}, 15, 0.1, true}, {{1, 2}, 90, 0.1}, {{1, 3}, 25, 0.1}});

    CHECK(fit.is_left_out == std::vector<bool>{false, false, true, false});
    CHECK(fit.unknowns[1]->value == Approx(5));
    CHECK(fit.others[2]->value == Approx(20));
}

TEST_CASE("if either of two equations may be wrong, the one with more unknowns is left out",
          "[mapi_cost][additive_fit]")
{
    const AdditiveFit fit = additive_fit({{{1, 0, 0, 0}, 1, 0.1, true},
                                          {{1, 0, 0, 1}, 42, 0.1, true},
                                          {{1, 1, 400, 0}, 141, 0.1, true},
                                          {{1, 1, 900, 0}, 191, 0.1},
                                          {{1, 1, 600, 1}, 202 + 120, 0.1}});

    CHECK(fit.is_left_out == std::vector<bool>{false, false, false, false, true});
    CHECK(fit.unknowns[2]->value == Approx(0.1));
    CHECK(fit.others[4]->value == Approx(202));
}

TEST_CASE("where more than a quarter contradicts, the fit reports that no model holds",
          "[mapi_cost][additive_fit]")
{
    auto equations = equations_of_a_line();
    for (const size_t i : {2u, 4u, 6u})
        equations[i].value += 100 * double(i);
    const AdditiveFit fit = additive_fit(equations);

    CHECK_FALSE(fit.do_agree);
}

TEST_CASE("an equation that is the only one with an unknown is not left out",
          "[mapi_cost][additive_fit]")
{
    const AdditiveFit fit = additive_fit(
        {{{1, 0}, 10, 0.1, true}, {{1, 1}, 15, 0.1}, {{1, 0}, 10.05, 0.1}, {{1, 0}, 30, 0.1}});

    CHECK(fit.is_left_out == std::vector<bool>{false, false, false, true});
    CHECK(fit.unknowns[1]->value == Approx(15 - fit.unknowns[0]->value));
    CHECK_FALSE(fit.others[1]);
}

TEST_CASE("no equations give no unknowns", "[mapi_cost][additive_fit]")
{
    CHECK(additive_fit({}).unknowns.empty());
}
