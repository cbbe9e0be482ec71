// SPDX-License-Identifier: MIT
// cli: what `nsdump export` was asked for.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "cli/read/seek.hpp"

namespace nsdump
{
struct ExportOptions {
    std::string trace;
    std::string what;           // one of ExportFormat::what
    std::string format = "csv"; // name of an ExportFormat
    std::string calibration;    // path; empty: the trace's own
    std::string output;         // path; empty or "-": standard output
    Selection selection;        // of events or slices; stats have only its name and range
    uint64_t limit = std::numeric_limits<uint64_t>::max();
    std::string weight = "net-ns"; // of stacks, see stack_weight()
    std::string partition;         // of parquet: folders by CPU and time; empty: none
    std::string compression;       // of parquet; empty: its default
    bool is_quiet = false;
};
} // namespace nsdump
