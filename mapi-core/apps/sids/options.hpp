// SPDX-License-Identifier: MIT
// Options: command line -> struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "captures/source.hpp"

namespace sids
{
enum ExitCode {
    kExitDone = 0,
    kExitIncomplete = 1,
    kExitUsage = 2,
    kExitRefused = 3,
    kExitNoMatch = 4,
    kExitInterrupted = 130
};

struct Options {
    captures_source::SourceOptions source;
    std::vector<std::string> rules;
    std::string format = "text";
    std::string output;         // of the table, or of alerts as JSON; empty: standard output
    std::string alerts;         // file that alerts are added to, beside the table
    std::string copy_folder;    // of captures of rules with copy; empty: the current folder
    std::string classification; // file; empty: none
    bool is_check = false;      // only whether the rules are right
    bool are_all_cooked = false;
    bool are_all_shown = false; // also rules without packets
    bool is_match_needed = false;
    bool is_quiet = false;
    double seconds = 0;        // how long to read a device; 0: until Ctrl-C
    double interval_s = 0;     // between tables; 0: only at the end, or each second on a terminal
    uint64_t buffer_bytes = 0; // for the alerts of a rule; 0: by the number of rules

    bool is_json() const { return format == "json"; }
    bool are_alerts_wanted() const { return is_json() || !alerts.empty(); }
};

// Returns an exit code if the program should end now.
std::optional<int> parse_options(int argc, char **argv, Options &options);
} // namespace sids
