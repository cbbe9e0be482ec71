// SPDX-License-Identifier: MIT
// options: command line -> struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mapi_flow
{
enum ExitCode { kExitDone = 0, kExitIncomplete = 1, kExitUsage = 2, kExitRefused = 3, kExitInterrupted = 130 };

struct Options {
    std::string device; // or captures
    std::vector<std::string> captures; // files, folders, "-"
    std::vector<std::string> flows;
    bool is_device = false;
    bool is_erf = false;
    bool waits = false; // for a device that is not there yet
    bool is_json = false;
    double seconds = 0;  // of a device; 0: until Ctrl-C
    double interval_s = 0; // between results; 0: at the end alone
    uint64_t buffer_bytes = 0; // of TO_BUFFER and of results one by one; 0: as functions have it
    uint64_t snap_bytes = 0;   // of a packet in TO_BUFFER and TO_FILE; 0: all
};

// An exit code when the program is to end here.
std::optional<int> parse_options(int argc, char **argv, Options &options);
} // namespace mapi_flow
