// SPDX-License-Identifier: MIT
// analyse: degrees of freedom -> the quantile that turns a standard error into a 95 % interval.
#pragma once

#include <cstddef>
#include <iterator>
#include <limits>

namespace nsdump
{
inline constexpr double kManyDegrees =
    std::numeric_limits<double>::infinity(); // the normal distribution

// Two-sided 95 % quantile of Student's t, interpolated between integers and accurate to 0.5 %
// beyond ten degrees.  0 for no degrees, since a single value has no interval.
inline double student_t95(double degrees)
{
    constexpr double kTable[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
    if (!(degrees > 0))
        return 0;
    if (degrees <= 1)
        return kTable[0];
    if (degrees >= double(std::size(kTable)))
        return 1.96 + 2.6 / degrees;
    const auto whole = size_t(degrees);
    return kTable[whole - 1] + (degrees - double(whole)) * (kTable[whole] - kTable[whole - 1]);
}
} // namespace nsdump
