// SPDX-License-Identifier: MIT
// run_live: one load -> a live device's packets, as they come, through libmapi in this process, under a session.
#pragma once

#include <string>

#include "run.hpp"

namespace mapi_cost
{
// Until `settings` has its packets or its seconds.  step_every: which units are counted where they are single-stepped.
Pass run_live(const Load &load, const std::string &device, Field field, std::uint64_t step_every, const RunSettings &settings,
              const TempFolder &folder);
} // namespace mapi_cost
