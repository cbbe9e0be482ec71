// SPDX-License-Identifier: MIT
// analyse: missing or damaged parts of a trace -> the figures that depend on them.
#pragma once

#include <string>
#include <vector>

#include "analyse/losses.hpp"
#include "decode/cpu_stream.hpp"
#include "decode/file_reader.hpp"

namespace nsdump
{
// A missing site may belong to any slice, and a constant affects every net value, so figures are
// marked by side and not one by one.
struct Incomplete {
    std::vector<std::string> reasons;
    bool programs = false; // figures of the programs' slices may be wrong
    bool kernel = false;

    bool any() const { return !reasons.empty(); }
};

// Determined from the metadata and the chunks of records read so far.
Incomplete incomplete_so_far(const TraceFile &trace, const StreamFaults &faults = {});
// After all records were read: also whether any are missing.
Incomplete incomplete_of(TraceFile &trace, const Losses &losses, const StreamFaults &faults);
} // namespace nsdump
