// SPDX-License-Identifier: MIT
// least_squares: equations with errors -> unknowns, and what the other equations say about each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mapi_cost
{
struct Equation {
    std::vector<double> coefficients; // one for each unknown
    double value = 0;
    double error = 1; // half width of the value's 95 % interval, above zero; the weight is 1 / error²
    bool is_definition = false; // says what an unknown is: never the one that is wrong
};

struct Estimate {
    double value = 0;
    double ci95 = 0; // from the errors of the equations
};

// Of a fit through all equations.  An equation's own value pulls the fit towards it, so each is held against the others.
struct CrossCheck {
    std::vector<std::optional<Estimate>> others; // by equation; none: the others do not determine it
    std::uint64_t rank = 0;                      // unknowns that the equations tell apart
    double chi_squared = 0;
    bool do_agree = true; // each lies within its own error and that of what the others say
};

// At least one equation.
CrossCheck cross_check(const std::vector<Equation> &equations);

bool is_within(const Equation &equation, const Estimate &others);

// Any sum of unknowns; none when the equations do not determine it.
std::vector<std::optional<Estimate>> solve(const std::vector<Equation> &equations, const std::vector<std::vector<double>> &sums);
} // namespace mapi_cost
