// SPDX-License-Identifier: MIT
// analyse: net value by thinning and by calibration -> the one to report.
#pragma once

#include "analyse/report.hpp"
#include "analyse/thinning/result.hpp"

namespace nsdump
{
// Sets what the report uses, and whether the two values exclude each other, from `net`.
void combine(const FieldReport &ticks, SliceThinning &thinning);
// Moves the net values of a slice's ticks so that the trimmed mean is the combined value.
void shift_net(FieldReport &ticks, const SliceThinning &thinning);
// How the words of a contradiction begin.
inline constexpr const char *kContradiction =
    "calibration and random thinning contradict each other";
// The contradiction in words.  `pairs`: mean number of pairs and marks inside.
std::string contradiction_words(const std::string &name, const SliceThinning &thinning,
                                double records);
} // namespace nsdump
