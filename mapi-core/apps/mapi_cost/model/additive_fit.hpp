// SPDX-License-Identifier: MIT
// additive_fit: equations, some of which may not follow the model -> the fit through those that
// agree with each other.
#pragma once

#include "least_squares.hpp"

namespace mapi_cost
{
struct AdditiveFit {
    std::vector<std::optional<Estimate>> unknowns; // nullopt: not determined
    std::vector<std::optional<Estimate>>
        others; // from the other equations of the fit; nullopt: they do not determine it
    std::vector<bool> is_left_out; // by equation
    std::uint64_t spare = 0; // equations of the fit beyond the number of unknowns they determine
    bool do_agree = true;    // whether the equations of the fit agree
};

// Leaves out the fewest equations, at most a quarter, so that the others agree; never one that
// defines an unknown or whose removal would leave an unknown undetermined.
AdditiveFit additive_fit(const std::vector<Equation> &equations);
} // namespace mapi_cost
