// SPDX-License-Identifier: MIT
// apply_call: a call as data -> mapi_apply_function().
#pragma once

#include <vector>

#include "flow_words/call.hpp"

namespace flow_words
{
// functions: the ids of those that the flow has, by place.  The new one's id, or -1 with an error for mapi_read_error().
int apply_call(int flow, const Call &call, const std::vector<int> &functions);
} // namespace flow_words
