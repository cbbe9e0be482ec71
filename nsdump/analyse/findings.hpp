// SPDX-License-Identifier: MIT
// analyse: a trace that was read -> what it lacks and what is wrong with it, as lines for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decode/cpu_stream.hpp"

namespace nsdump
{
struct Findings {
    std::vector<std::string> lines; // each without the trace's name
    bool are_wrong = false;         // something is damaged or missing, so figures may be wrong
};

// `is_over`: all records were read; `is_stopped`: the user stopped it, so nothing is said of what
// follows.
Findings findings_of(TraceFile &trace, const StreamFaults &faults, bool is_over, bool is_stopped);
// Of STOPs in a part of a trace.
std::string unmatched_words(uint64_t count);
} // namespace nsdump
