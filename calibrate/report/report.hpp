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
// The paper's tables, with the figures of this machine and of 2001.
std::string as_paper_text(const Report &report);
// Schema netslice-calibration-1; also has members that nsdump does not read.
std::string as_json(const Report &report);
} // namespace calibrate
