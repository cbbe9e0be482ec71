// SPDX-License-Identifier: MIT
// options: command line -> struct.
#pragma once

#include <optional>
#include <string>

namespace mapi_info
{
enum ExitCode {
    kExitOk = 0,
    kExitFindings = 1, // the trace lacks records, or is incomplete
    kExitUsage = 2,
    kExitRefused = 3, // no mapid, mapid refuses, or the output cannot be written
};

enum class Command { kAll, kDevices, kFlows, kFunctions, kCost, kRecord };

struct Options {
    Command command = Command::kAll;
    std::string socket;
    std::string format = "text";
    std::string output; // of lists
    std::string trace = "mapid.nsl";
    std::string slices; // of the trace; empty: all
    double seconds = 0; // 0: until Ctrl-C
    bool is_quiet = false;
    std::string device; // whose cost is measured; empty: each that has one
    double cost_seconds = 1;
};

// The exit code if there is nothing more to do.
std::optional<int> parse_options(int argc, char **argv, Options &options);
} // namespace mapi_info
