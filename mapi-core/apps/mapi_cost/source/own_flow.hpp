// SPDX-License-Identifier: MIT
// own_flow: a flow expression of --flow -> a scenario.
#pragma once

#include <string>

#include "scenario.hpp"

namespace mapi_cost
{
// number: of the flow, starting at 1.  Throws flow_expression::ExpressionError.
Scenario own_flow(const std::string &text, unsigned number);
} // namespace mapi_cost
