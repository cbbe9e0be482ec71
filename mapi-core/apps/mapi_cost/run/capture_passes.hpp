// SPDX-License-Identifier: MIT
// capture_passes: a scenario on a capture -> the pass of its load.
#pragma once

#include "mapi_cost/measure.hpp"
#include "mapi_cost/source/workload.hpp"

namespace mapi_cost
{
// All arguments must outlive the result.  Stores in the results how often the capture is read.
MakePass capture_passes(Workloads &workloads, Results &results, const TempFolder &folder);
} // namespace mapi_cost
