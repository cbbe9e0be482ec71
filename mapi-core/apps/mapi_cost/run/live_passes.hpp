// SPDX-License-Identifier: MIT
// live_passes: a scenario on a live device -> a pass; which scenarios can be measured there.
#pragma once

#include <string>
#include <vector>

#include "mapi_cost/measure.hpp"
#include "mapi_cost/source/temp_folder.hpp"

namespace mapi_cost
{
// Removes scenarios that need packets of one size, the same packets twice, or an idle packet
// thread.  Returns a note that names them, or an empty string.  Throws command::UsageError if one
// of them was requested by name or none is left.
std::string keep_live(std::vector<Scenario> &scenarios, const std::vector<std::string> &asked_for);

// The results' survey names the device and the filter.  All arguments must outlive the result.
// Throws MapiError if there is no such device; a pass throws it if no packet has arrived yet.
MakePass live_passes(const Results &results, const TempFolder &folder);
} // namespace mapi_cost
