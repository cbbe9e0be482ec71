// SPDX-License-Identifier: MIT
// analyse: slice + constants -> net values, what the probes cost taken out.
#pragma once

#include "analyse/correction.hpp"
#include "analyse/slice.hpp"

namespace nsdump
{
// What the probes completed inside a slice added to it.
template <class Counts> double outer_sum(const Counts &inside, const std::array<double, kProbes> &outer)
{
    return static_cast<double>(inside.pairs) * outer[kPair] + static_cast<double>(inside.marks) * outer[kMark] +
           static_cast<double>(inside.inits) * outer[kInit] + static_cast<double>(inside.exits) * outer[kExit];
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

// Net value of slices that lie inside others, all together.
inline double children_net(const ChildSums &children, const FieldConstants &constants)
{
    return children.raw - static_cast<double>(children.count) * constants.inner - outer_sum(children, constants.outer);
}
} // namespace nsdump
