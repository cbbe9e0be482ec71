// SPDX-License-Identifier: MIT
// scenario_calls: the functions of a scenario or of a flow of --flow -> calls with their arguments.
#pragma once

#include <string>
#include <vector>

#include "scenario.hpp"

namespace mapi_cost
{
struct CallWords {
    std::string filter;
    std::string text;                     // to search for
    std::vector<std::string> absent = {}; // texts that are in no packet, by variant
    bool reader_waits = true;
};

// variant: selects arguments, for flows that differ.
std::vector<Call> calls_of(const Scenario &scenario, unsigned variant, const CallWords &words);
} // namespace mapi_cost
