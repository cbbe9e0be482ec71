// SPDX-License-Identifier: MIT
// analyse: means of cells -> what each name inside adds, by weighted least squares.
#pragma once

#include <cstddef>
#include <vector>

#include "analyse/correct/uncertainty.hpp"

namespace nsdump
{
// The mean of the slices of a cell.
struct CellMean {
    std::vector<bool> is_on; // by unknown
    double mean = 0;
    double standard_error = 0;
    double degrees = 0;
    double weight = 0; // effective number of epochs
};

// Unknowns that can be separated from all others, alone or only as a sum.
struct FittedGroup {
    std::vector<size_t> unknowns;
    double sum = 0; // what they add together
    Uncertainty error;
    std::vector<double> shares; // of the cells' means in the sum
    double bound = 0;           // of an error that is not chance
};

// mean ~ base + sum of the unknowns that are on.  Unknowns that cannot be separated at all are not
// in the result.
std::vector<FittedGroup> fit_cells(const std::vector<CellMean> &cells, size_t unknowns);
} // namespace nsdump
