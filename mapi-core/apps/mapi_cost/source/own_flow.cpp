// SPDX-License-Identifier: MIT
// own_flow: a flow expression of --flow -> a scenario.
#include "own_flow.hpp"

#include "flow_expression/read_calls.hpp"

namespace mapi_cost
{
Scenario own_flow(const std::string &text, unsigned number)
{
    Scenario scenario{"flow-" + std::to_string(number),
                      kOwnTable,
                      "",
                      0,
                      Traffic::kWhole,
                      Quantity::kPacket,
                      {},
                      {}};
    scenario.own = flow_expression::read_calls(text);
    for (const Call &call : scenario.own)
        scenario.name += (scenario.name.empty() ? "" : " + ") + call.function;
    return scenario;
}
} // namespace mapi_cost
