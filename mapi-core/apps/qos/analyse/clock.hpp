// SPDX-License-Identifier: MIT
// clock: differences of time stamps -> how far the clock of the second point is ahead.
#pragma once

#include <cstdint>
#include <vector>

#include "qos/analyse/clock_steps.hpp"
#include "qos/analyse/direction.hpp"
#include "qos/analyse/match.hpp"

namespace qos
{
// From `from_ns` on, by the clock that gives the times, until the next piece: offset_ns + drift *
// (time - from_ns).
struct ClockPiece {
    int64_t from_ns = 0;
    int64_t to_ns = 0;
    double offset_ns = 0; // at from_ns
    double drift = 0;     // nanoseconds a nanosecond
};

struct ClockModel {
    bool is_synchronised = true; // then delays are as measured
    // Both directions were there: half of the shortest round trip is taken to be the shortest
    // delay of each.  Otherwise the shortest delay is 0, and delays hold up to a constant.
    bool has_both_directions = false;
    std::vector<ClockPiece> pieces; // of clocks that are not synchronised, at least one
    std::vector<ClockStep> steps;
    bool is_by_second = false; // times are by the second point's clock: the first one has steps

    // Second clock - first clock, in ns; 0 for synchronised clocks.
    double offset_ns(int64_t time_ns) const;
    // The first point becomes the second.
    void exchange();
};

enum class ClockWish { kDetect, kSynchronised, kUnsynchronised };

// Clocks are detected as not synchronised if delays would be negative.
ClockModel find_clock(const std::vector<ClockSample> &samples, const Directions &directions,
                      ClockWish wish);
} // namespace qos
