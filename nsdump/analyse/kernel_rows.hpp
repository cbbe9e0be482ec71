// SPDX-License-Identifier: MIT
// analyse: the kernel's own calibration, sums in whole numbers -> rows of constants.
#pragma once

#include <vector>

#include "analyse/correction.hpp"

namespace nsdump
{
// Of the first calibration of a recording, or of its last where there is more than one.
std::vector<CalibrationRow> kernel_rows(const std::vector<KernelCalibration> &calibrations, bool is_start);
} // namespace nsdump
