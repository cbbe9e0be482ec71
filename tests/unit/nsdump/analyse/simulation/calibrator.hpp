// SPDX-License-Identifier: MIT
// The model -> the calibration that the library would measure on it, by the library's own
// estimator.
#pragma once

#include <vector>

#include "simulation/machine.hpp"

namespace simulation
{
inline constexpr int kBatches = 100; // a session takes up to 400 at its start, if its time allows
inline constexpr int kTurns = 5;
inline constexpr int kRounds = 64;

// `cost`: of the probes, relative to the model's.
std::vector<nslice_calibration_entry> calibrate(const Model &model, uint32_t cpu, double cost,
                                                Random &random);
} // namespace simulation
