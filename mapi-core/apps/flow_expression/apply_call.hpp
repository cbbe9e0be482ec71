// SPDX-License-Identifier: MIT
// apply_call: a call as data -> mapi_apply_function().
#pragma once

#include <vector>

#include "flow_expression/call.hpp"

namespace flow_expression
{
// functions: ids of the flow's functions so far, by position.  Returns the new id, or -1
// (mapi_read_error()).
int apply_call(int flow, const Call &call, const std::vector<int> &functions);
} // namespace flow_expression
