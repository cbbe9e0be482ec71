// SPDX-License-Identifier: MIT
// loss_interval: lost packets of a selection -> an interval for the loss of all packets.
#pragma once

#include <cstdint>

namespace qos
{
struct Interval {
    double low = 0;
    double high = 0;
};

// The 95 % interval of the part that is lost of all packets, of which `sent` were selected with
// the probability `rate` and `lost` of these are lost: Wilson's, with the correction for a finite
// population, so that it has no width if all packets were selected.
Interval loss_interval(uint64_t sent, uint64_t lost, double rate);

// Student's t: 95 % of the values of a mean of `count` values, at least 2, are within so many
// standard errors.
double student_95(uint64_t count);
} // namespace qos
