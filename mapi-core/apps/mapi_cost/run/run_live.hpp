// SPDX-License-Identifier: MIT
// run_live: one load -> a live device's packets, as they come, through libmapi in this process,
// under a session.
#pragma once

#include <string>

#include "run.hpp"

namespace mapi_cost
{
// Runs until the packets or seconds of `settings` are reached.  step_every: distance of units to
// single-step.
Pass run_live(const Load &load, const std::string &device, Field field, std::uint64_t step_every,
              const RunSettings &settings, const TempFolder &folder);
} // namespace mapi_cost
