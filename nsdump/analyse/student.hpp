// SPDX-License-Identifier: MIT
// analyse: degrees of freedom -> the quantile by which a standard error becomes a 95 % interval.
#pragma once

#include <cstdint>
#include <iterator>

namespace nsdump
{
// Two-sided 95 % quantile of Student's t; beyond ten degrees within 0.5 %.  0 for none: one value has no interval.
inline double student_t95(std::uint64_t degrees)
{
    constexpr double kTable[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
    if (degrees == 0)
        return 0;
    return degrees <= std::size(kTable) ? kTable[degrees - 1] : 1.96 + 2.6 / static_cast<double>(degrees);
}
} // namespace nsdump
