// SPDX-License-Identifier: MIT
// match: sightings of two points -> groups of copies of one packet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qos/analyse/load.hpp"

namespace qos
{
// What both points have seen of one digest; either may be empty.  Valid as long as the points.
struct Copies {
    std::span<const Sighting> at_from;
    std::span<const Sighting> at_to;
    uint32_t flow = 0;
};

struct Matches {
    std::vector<Copies> copies;
    // Digests that packets of different flows have, and the sightings that were taken out.
    uint64_t collided_digests = 0;
    uint64_t collided_sightings = 0;
    uint64_t digests = 0;
    // Number of different packets with the same digest that is to be expected.
    double expected_collisions = 0;
};

Matches match(const Observations &seen);

// A packet that each point has seen exactly once: later - earlier is the time on the way and the
// offset of the clocks.
struct ClockSample {
    int64_t time_ns = 0;       // at the first point
    int64_t difference_ns = 0; // second point - first point
    int hops = 0;              // routers from the first point to the second; negative: backwards
    uint32_t flow = 0;
};

// In the order of their times.
std::vector<ClockSample> clock_samples(const Matches &matches);
} // namespace qos
