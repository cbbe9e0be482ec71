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
std::vector<ClockStep> find_steps(const std::vector<ClockSample> &samples,
                                  const Directions &directions, bool has_both_directions);
} // namespace qos
