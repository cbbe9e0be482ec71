// SPDX-License-Identifier: MIT
// measure_source: the capture or device of the command line, and scenarios -> passes -> rows.
#pragma once

#include <string>
#include <vector>

#include "mapi_cost/source/temp_folder.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "results.hpp"

namespace mapi_cost
{
// Removes scenarios that need packets of one size, the same packets twice, or an idle packet
// thread.  Returns a note that names them, or an empty string.  Throws command::UsageError if one
// of them was requested by name or none is left.
std::string keep_live(std::vector<Scenario> &scenarios, const std::vector<std::string> &asked_for);

// The results' survey names the device and the filter.  All arguments must outlive the result.
// Throws MapiError if there is no such device; a pass throws it if no packet has arrived yet.
Runner live_runner(const Results &results, const TempFolder &folder);

// Completed rows stay in the results if it throws.
void measure_source(const Options &options, const std::vector<Scenario> &scenarios,
                    const TempFolder &folder, Results &results);
} // namespace mapi_cost
