// SPDX-License-Identifier: MIT
// measure_source: the capture or device of the command line, and scenarios -> rows.
#pragma once

#include <vector>

#include "mapi_cost/options.hpp"
#include "mapi_cost/output/rows.hpp"
#include "temp_folder.hpp"

namespace mapi_cost
{
// Completed rows stay in the results if it throws.
void measure_source(const Options &options, const std::vector<Scenario> &scenarios,
                    const TempFolder &folder, Results &results);
} // namespace mapi_cost
