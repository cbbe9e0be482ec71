// SPDX-License-Identifier: MIT
// clock_steps: differences of time stamps -> sudden changes of the clocks against each other.
#pragma once

#include <cstdint>
#include <vector>

#include "qos/analyse/direction.hpp"
#include "qos/analyse/match.hpp"

namespace qos
{
// A sudden change of the difference, in both directions if there are two.
struct ClockStep {
    int64_t time_ns = 0;
    double step_ns = 0;
};

// With packets of both directions, a change of one of them is a change of the route and no step.
enum class StepEvidence {
    kOneDirection,   // there is only one
    kNothingAgainst, // the other direction shows it, or has no packets there
    kBothDirections  // the other direction shows it
};

std::vector<ClockStep> find_steps(const std::vector<ClockSample> &samples,
                                  const Directions &directions, StepEvidence evidence);
} // namespace qos
