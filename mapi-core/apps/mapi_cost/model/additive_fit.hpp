// SPDX-License-Identifier: MIT
// additive_fit: equations with errors -> unknowns, and the prediction of each equation from the
// others; if some do not follow the model, the fit through those that agree with each other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mapi_cost
{
struct Equation {
    std::vector<double> coefficients; // one per unknown
    double value = 0;
    double error = 1; // half width of the value's 95 % interval, positive; the weight is 1 / error²
    bool is_definition = false; // defines an unknown: never treated as wrong
};

struct Estimate {
    double value = 0;
    double ci95 = 0; // from the equations' errors
};

// For a fit through all equations.  Each is compared with the others, because its own value pulls
// the fit towards it.
struct CrossCheck {
    std::vector<std::optional<Estimate>>
        others;        // by equation; nullopt: the others do not determine it
    uint64_t rank = 0; // number of unknowns that the equations determine
    double chi_squared = 0;
    bool do_agree = true; // each is within its own error plus that of the others' prediction
};

// Requires at least one equation.
CrossCheck cross_check(const std::vector<Equation> &equations);

bool is_within(const Equation &equation, const Estimate &others);

// A weighted sum of unknowns; nullopt if the equations do not determine it.
std::vector<std::optional<Estimate>> solve(const std::vector<Equation> &equations,
                                           const std::vector<std::vector<double>> &sums);

struct AdditiveFit {
    std::vector<std::optional<Estimate>> unknowns; // nullopt: not determined
    std::vector<std::optional<Estimate>>
        others; // from the other equations of the fit; nullopt: they do not determine it
    std::vector<bool> is_left_out; // by equation
    uint64_t spare = 0;   // equations of the fit beyond the number of unknowns they determine
    bool do_agree = true; // whether the equations of the fit agree
};

// Leaves out the fewest equations, at most a quarter, so that the others agree; never one that
// defines an unknown or whose removal would leave an unknown undetermined.
AdditiveFit additive_fit(const std::vector<Equation> &equations);
} // namespace mapi_cost
