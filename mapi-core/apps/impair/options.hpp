// SPDX-License-Identifier: MIT
// options: command line -> struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "impairment.hpp"

namespace impair
{
enum ExitCode {
    kExitDone = 0,
    kExitFailed = 1, // an interface, a permission, netem or the log is missing, or went away
    kExitUsage = 2,
};

struct Options {
    std::string interfaces[kDirections]; // forward: from the first to the second
    Impairment impairment;
    bool is_impaired[kDirections] = {true, true};
    uint64_t seed = 1;
    uint64_t limit = 100'000; // packets that wait in each direction
    uint64_t spin_ns = 60'000;
    int priority = 0;   // of SCHED_FIFO; 0: as other programs
    double seconds = 0; // to end after; 0: no limit
    std::string log;    // empty: none
    std::string format = "text";
    bool is_netem = false;
    bool is_quiet = false;
};

// "50us", "0.05ms", "2s", "0": nanoseconds.  Nothing if the text is not a time of at most an hour.
std::optional<uint64_t> read_time(const std::string &text);

// Returns an exit code if the program should end now.
std::optional<int> parse_options(int argc, const char *const *argv, Options &options);
} // namespace impair
