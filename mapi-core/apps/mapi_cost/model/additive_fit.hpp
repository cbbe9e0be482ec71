// SPDX-License-Identifier: MIT
// additive_fit: equations, some of which may not follow the model -> the fit through those that agree with each other.
#pragma once

#include "least_squares.hpp"

namespace mapi_cost
{
struct AdditiveFit {
    std::vector<std::optional<Estimate>> unknowns; // none: not determined
    std::vector<std::optional<Estimate>> others;   // what the other equations of the fit say; none: they do not determine it
    std::vector<bool> is_left_out;                 // by equation
    std::uint64_t spare = 0;                       // equations of the fit beyond the unknowns they tell apart
    bool do_agree = true;                          // those of the fit
};

// Leaves out the fewest equations without which the others agree, a quarter at most: none that defines an unknown, and
// none whose unknown would be lost.
AdditiveFit additive_fit(const std::vector<Equation> &equations);
} // namespace mapi_cost
