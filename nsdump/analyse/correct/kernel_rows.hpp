// SPDX-License-Identifier: MIT
// analyse: the kernel's own calibration, sums in whole numbers -> rows of constants.
#pragma once

#include <vector>

#include "analyse/correct/calibration_rows.hpp"

namespace nsdump
{
// Of the recording's start or end.
CalibrationRows kernel_rows(const std::vector<KernelCalibration> &calibrations, nslice_calibration_phase phase);
} // namespace nsdump
