// SPDX-License-Identifier: MIT
// analyse: the errors of a mean -> its 95 % interval; libnsprobe/CORRECTION.md derives each of
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "analyse/correct/uncertainty.hpp"
#include "analyse/statistics/blocks.hpp"

namespace nsdump
{
// The effect of a clock that moves in steps on a mean, as far as the spread of the values does not
// show it.  If slices fall on the steps at random, rounding is ordinary noise: it averages zero and
// is part of the standard deviation.  But a reading that differs by a step in fewer than 3 of n
// slices may not occur among n (95 %), and a single slice may be off by a step.  The sampling error
// is at least that.
inline double rounding_ci95(double step, uint64_t count)
{
    return step * std::min(1.0, 3 / double(count));
}

struct Sampling {
    double standard_error = 0;
    double degrees = 0;
};

inline Sampling sampling_of(const Blocks &blocks)
{
    return {blocks.standard_error(), double(blocks.count()) - 1};
}

// Errors of a mean other than the sampling error.
struct OtherErrors {
    double rounding_ci95 = 0;
    Uncertainty constants;
    double bound = 0; // not random, so added linearly: drift, and probe cost that work may hide
};

// Sampling and the constants are independent.  A single value has no interval, since its spread is
// unknown.
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
