// SPDX-License-Identifier: MIT
// thinned: nsdump's report on a pass with random thinning -> what the probes inside slices cost
// there, and what they cost the program.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyse/report.hpp"

namespace mapi_cost
{
// What the probes inside a slice cost, as a multiple of their calibrated cost.
struct InsideFactor {
    double value = 1;
    double ci95 = 0;
};

// The factor of one slice under one load.
struct LoadFactor {
    std::string load; // id of its scenario
    unsigned flows = 1;
    std::string slice;
    InsideFactor factor;
};

using InsideFactors = std::map<std::string, InsideFactor>; // by slice

// Thinning and calibration combined, each weighted by the square of the other's half width, or
// thinning if they contradict each other.  Without slices for which thinning shows nothing.
InsideFactors inside_factors(const nsdump::StatsReport &report,
                             const std::vector<std::string> &slices);

// Ticks of a unit, from one to the next.
struct ProgramCost {
    nsdump::Measured on;  // with all probes on
    nsdump::Measured off; // with those inside slices off
};

std::optional<ProgramCost> program_cost(const nsdump::StatsReport &report);

// How much longer a batch takes with all probes on than with those inside slices off, as a share:
// mean over the loads, weighted by their errors; nullopt without loads.
std::optional<nsdump::Measured> slowdown(const std::vector<ProgramCost> &loads);
} // namespace mapi_cost
