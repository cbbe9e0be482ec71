// SPDX-License-Identifier: MIT
// analyse: what of a trace is missing or damaged -> which figures depend on it.
#pragma once

#include <string>
#include <vector>

#include "analyse/losses.hpp"
#include "decode/cpu_stream.hpp"
#include "decode/file_reader.hpp"

namespace nsdump
{
// A site that is missing may have been one of any slice, and a constant is in every net value: so figures are marked by side.
struct Incomplete {
    std::vector<std::string> reasons;
    bool programs = false; // figures of the programs' slices may be wrong
    bool kernel = false;

    bool any() const { return !reasons.empty(); }
};

// What metadata and the records read until now tell.
Incomplete incomplete_so_far(const TraceFile &trace);
// After all records were read: also whether they are all there.
Incomplete incomplete_of(TraceFile &trace, const Losses &losses, const StreamFaults &faults);
} // namespace nsdump
