// SPDX-License-Identifier: MIT
// additive_fit: equations that do not follow the model do not change it.
#include "support/catch.hpp"

#include "mapi_cost/model/additive_fit.hpp"

using namespace mapi_cost;

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
    for (const std::size_t i : {2u, 4u, 6u})
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
