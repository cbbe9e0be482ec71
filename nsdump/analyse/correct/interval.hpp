// SPDX-License-Identifier: MIT
// analyse: the errors of a mean -> its 95 % interval; libnsprobe/CORRECTION.md derives each of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "analyse/statistics/blocks.hpp"
#include "analyse/correct/uncertainty.hpp"

namespace nsdump
{
// What a clock that moves in steps does to a mean and the values' spread does not show.  Where slices fall on the steps
// at random, rounding is noise like any other, in the standard deviation and on average zero.  But a reading that
// differs by a step in fewer than 3 of n slices may be missing among n (95 %), and one slice may be off by a step: the
// sampling error is no less than that.
inline double rounding_ci95(double step, std::uint64_t count)
{
    return step * std::min(1.0, 3 / static_cast<double>(count));
}

struct Sampling {
    double standard_error = 0;
    double degrees = 0;
};

inline Sampling sampling_of(const Blocks &blocks)
{
    return {blocks.standard_error(), static_cast<double>(blocks.count()) - 1};
}

// Of a mean, beside sampling.
struct OtherErrors {
    double rounding_ci95 = 0;
    Uncertainty constants;
    double bound = 0; // of what is no chance, so it is added as it is: how far constants have moved, what work may hide of probes
};

// Sampling and the constants are independent.  No interval for one value: nothing tells how far the next one lies.
inline std::optional<double> interval95(const Sampling &sampling, const OtherErrors &others)
{
    if (!(sampling.degrees > 0))
        return std::nullopt;
    const double hidden = others.rounding_ci95 / student_t95(sampling.degrees);
    Uncertainty all = others.constants;
    all.add(std::max(sampling.standard_error, hidden), sampling.degrees);
    return all.ci95() + others.bound;
}
} // namespace nsdump
