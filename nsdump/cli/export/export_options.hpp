// SPDX-License-Identifier: MIT
// cli: what `nsdump export` was asked for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace nsdump
{
struct ExportOptions {
    std::string trace;
    std::string what;           // one of ExportFormat::what
    std::string format = "csv"; // name of an ExportFormat
    std::string calibration;    // path; empty: the trace's own
    std::string output;         // path; empty or "-": standard output
    std::optional<uint64_t> unit;
    std::string slice; // name; empty: all
    uint64_t limit = std::numeric_limits<uint64_t>::max();
    std::string partition;   // of parquet: folders by CPU and time; empty: none
    std::string compression; // of parquet; empty: its default
    bool is_quiet = false;
};
} // namespace nsdump
