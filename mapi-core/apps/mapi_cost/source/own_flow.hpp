// SPDX-License-Identifier: MIT
// own_flow: the functions of a flow as the user writes them -> a scenario.
#pragma once

#include <string>

#include "scenario.hpp"

namespace mapi_cost
{
// number: of the flow, from 1.  Throws flow_words::WordsError.
Scenario own_flow(const std::string &text, unsigned number);
} // namespace mapi_cost
