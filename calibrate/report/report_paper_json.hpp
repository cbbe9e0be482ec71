// SPDX-License-Identifier: MIT
// report: the paper's tables -> member "paper" of calibration.json.
#pragma once

#include <nlohmann/json.hpp>

#include "report.hpp"

namespace calibrate
{
using Json = nlohmann::ordered_json;

Json paper_json(const Report &report);
} // namespace calibrate
