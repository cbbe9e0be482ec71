// SPDX-License-Identifier: MIT
// capture_passes: a scenario on a capture -> the pass of its load.
#include "capture_passes.hpp"

namespace mapi_cost
{
MakePass capture_passes(Workloads &workloads, Results &results, const TempFolder &folder)
{
    return [&](const Scenario &scenario, unsigned flows, Field field) {
        const Load load = workloads.load(scenario, flows, !scenario.is_call());
        if (scenario.is_call())
            return run_calls(load, scenario.quantity, field, results.settings, folder);
        if (scenario.traffic == Traffic::kWhole)
            results.repetitions =
                (results.settings.packets + load.workload.packets - 1) / load.workload.packets;
        return run_packets(load, field, results.settings, folder);
    };
}
} // namespace mapi_cost
