// SPDX-License-Identifier: MIT
// live_passes: a scenario on a live device -> a pass; which scenarios can be measured there.
#pragma once

#include <string>
#include <vector>

#include "mapi_cost/measure.hpp"
#include "mapi_cost/source/temp_folder.hpp"

namespace mapi_cost
{
// Scenarios that need packets of one size, the same packets twice, or a packet thread that is done, go.  A note that names them; empty
// without.  Throws command::UsageError when one of them has been asked for by its name, or none is left.
std::string keep_live(std::vector<Scenario> &scenarios, const std::vector<std::string> &asked_for);

// The results' survey names the device and the filter.  All outlive what is returned.  Throws MapiError when there is no such device;
// a pass does when no packet has come yet.
MakePass live_passes(const Results &results, const TempFolder &folder);
} // namespace mapi_cost
