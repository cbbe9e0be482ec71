// SPDX-License-Identifier: MIT
// options: command line -> struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convert.hpp"

namespace snort2sids
{
enum ExitCode {
    kExitDone = 0,    // all rules are converted
    kExitRefused = 1, // some are not
    kExitWrong = 2,   // invalid usage, a file that cannot be read or written, invalid syntax
};

struct Options {
    std::vector<std::string> files, configs;
    std::vector<std::pair<std::string, std::string>> variables;
    Settings settings;
    std::string output;                // empty: standard output
    std::optional<uint32_t> explained; // a sid
    bool takes_commented = false;      // rules that are commented out
    bool has_comments = false;         // each rule's own header in the output
    bool lists_refused = false;
    bool is_quiet = false;
};

// Returns an exit code if the program should end now.
std::optional<int> parse_options(int argc, const char *const *argv, Options &options);
} // namespace snort2sids
