// SPDX-License-Identifier: MIT
// analyse: a trace that was read -> what is wrong with it, as lines for people.
#pragma once

#include <string>
#include <vector>

#include "decode/merge.hpp"

namespace nsdump
{
struct Findings {
    std::vector<std::string> lines; // each without the trace's name
    bool are_wrong = false;         // something is damaged or missing, so figures may be wrong
};

// As far as `merger` has read it; `is_stopped`: by the user, so nothing is said of what follows.
Findings findings_of(TraceFile &trace, const Merger &merger, bool is_stopped);
} // namespace nsdump
