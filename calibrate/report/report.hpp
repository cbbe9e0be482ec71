// SPDX-License-Identifier: MIT
// report: run + environment -> tables for people, calibration.json for programs.
#pragma once

#include <string>
#include <vector>

#include "environment.hpp"
#include "run.hpp"
#include "warnings.hpp"

namespace calibrate
{
struct Report {
    const Environment &environment;
    const Plan &plan;
    const Run &run;
    const std::vector<Warning> &warnings;
};

std::string as_text(const Report &report);
// The paper's tables instead, for this machine and 2001's.
std::string as_paper_text(const Report &report);
// Schema netslice-calibration-1; what nsdump does not need stands beside what it does.
std::string as_json(const Report &report);
} // namespace calibrate
