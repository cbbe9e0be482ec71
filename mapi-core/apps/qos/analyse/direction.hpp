// SPDX-License-Identifier: MIT
// direction: a flow -> which of the points its packets pass first.
#pragma once

#include <cstdint>
#include <vector>

#include "qos/analyse/match.hpp"

namespace qos
{
enum class Direction : uint8_t {
    kForward,  // from the first point to the second
    kBackward, // the other way
};

struct Directions {
    std::vector<Direction> of_flow; // by number
    // Neither hop limits, nor flows of the other direction, nor synchronised clocks show it: all
    // packets were taken to go in the usual direction.
    bool is_assumed = false;
};

struct ClockBelief {
    bool is_one_way = false;        // all flows go in the usual direction
    bool is_unsynchronised = false; // the sign of a difference does not show the direction
    Direction usual = Direction::kForward;
};

Directions find_directions(const Observations &seen, const Matches &matches,
                           const std::vector<ClockSample> &samples, const ClockBelief &belief);
} // namespace qos
