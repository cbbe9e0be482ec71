// SPDX-License-Identifier: MIT
// analyse: slice + constants -> net values, what the probes cost taken out.
#pragma once

#include "analyse/correction.hpp"
#include "analyse/slice.hpp"

namespace nsdump
{
// What the probes completed inside a slice added to it.
inline double outer_sum(const ProbeCounts &inside, const std::array<double, kProbes> &outer)
{
    return inside.pairs * outer[kPair] + inside.marks * outer[kMark] + inside.inits * outer[kInit] +
           inside.exits * outer[kExit];
}

// net = raw - inner - sum over the probes completed inside of their outer cost.  Never clamped: a value below zero
// tells that the slice is shorter than the noise.
inline double net_of(double raw, const ProbeCounts &inside, const FieldConstants &constants)
{
    return raw - constants.inner - outer_sum(inside, constants.outer);
}

// Half width of the interval of what was subtracted; the same constants every time, so the parts add up.
inline double subtracted_ci95(const ProbeCounts &inside, const FieldConstants &constants)
{
    return constants.inner_ci95 + outer_sum(inside, constants.outer_ci95);
}

// Net value of the slices directly inside, all together.
inline double children_net(double children_raw, std::uint32_t children, const ProbeCounts &in_children,
                           const FieldConstants &constants)
{
    return children_raw - children * constants.inner - outer_sum(in_children, constants.outer);
}
} // namespace nsdump
