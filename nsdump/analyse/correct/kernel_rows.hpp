// SPDX-License-Identifier: MIT
// analyse: the kernel's own calibration, as integer sums -> rows of constants.
#pragma once

#include <vector>

#include "analyse/correct/calibration_rows.hpp"
#include "analyse/pair/pair.hpp"

namespace nsdump
{
BpfCosts bpf_costs(const std::vector<KernelCalibration> &calibrations);
// Rows of the calibration at the start or the end of the recording.
CalibrationRows kernel_rows(const std::vector<KernelCalibration> &calibrations,
                            nslice_calibration_phase phase);
} // namespace nsdump
