// SPDX-License-Identifier: MIT
// compare: a difference and its standard error -> how likely it is by chance, alone and among many.
#pragma once

#include <vector>

namespace nsdump
{
// Two-sided: how likely Student's t is at least this far from 0.  kManyDegrees: the normal
// distribution.
double student_p(double t, double degrees);

// Holm (1979): each p-value as it counts among all of them.  If none of the differences is real,
// the smallest is below 0.05 in at most 5 % of all cases, whatever depends on what.
std::vector<double> holm_adjusted(const std::vector<double> &p_values);
} // namespace nsdump
