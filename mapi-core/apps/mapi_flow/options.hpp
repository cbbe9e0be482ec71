// SPDX-License-Identifier: MIT
// options: command line -> struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "captures/source.hpp"

namespace mapi_flow
{
enum ExitCode {
    kExitDone = 0,
    kExitIncomplete = 1,
    kExitUsage = 2,
    kExitRefused = 3,
    kExitInterrupted = 130
};

struct Options {
    captures_source::SourceOptions source;
    std::vector<std::string> flows;
    std::string format = "text";
    std::string output; // empty: standard output
    bool is_quiet = false;
    double seconds = 0;        // how long to read a device; 0: until Ctrl-C
    double interval_s = 0;     // between results; 0: only at the end
    uint64_t buffer_bytes = 0; // of TO_BUFFER and of result rings; 0: the functions' defaults
    uint64_t snap_bytes = 0;   // of each packet that TO_BUFFER and TO_FILE keep; 0: all

    bool is_json() const { return format == "json"; }
};

// Returns an exit code if the program should end now.
std::optional<int> parse_options(int argc, char **argv, Options &options);
} // namespace mapi_flow
