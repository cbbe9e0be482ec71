// SPDX-License-Identifier: MIT
// analyse: units in epochs with all probes on and with most of them off -> what probes cost the
// program.
#pragma once

#include <vector>

#include "analyse/thinning/collector.hpp"
#include "analyse/thinning/result.hpp"

namespace nsdump
{
// `hz`: rate of the clock; 0 if unknown, then nothing is returned.
std::vector<ThinnedUnits> program_costs(const NameTable &names, const ThinningCollector &slices,
                                        double hz);
} // namespace nsdump
