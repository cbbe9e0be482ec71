// SPDX-License-Identifier: MIT
// options: command line -> struct.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mapi_cost/run/run.hpp"
#include "mapi_cost/source/scenario.hpp"

namespace mapi_cost
{
enum ExitCode {
    kExitOk = 0,
    kExitFindings = 1, // rows are there, but the capture is damaged, records were lost, or figures could not be had
    kExitUsage = 2,
    kExitRefused = 3, // no such capture, a filter that does not compile, no room for traces or output; rows that were ready are told
    kExitInterrupted = 130,
};

struct Options {
    std::string capture; // or the device
    bool is_device = false;
    bool is_recorded = false; // first, to be measured on
    bool is_erf = false;
    std::string filter; // empty: chosen by the capture
    std::string text = "www";
    std::string json;
    std::string csv;
    std::vector<std::string> scenarios;
    std::vector<std::string> flows; // of the user
    bool is_list = false;
    bool wants_instructions = true;
    RunSettings run;

    bool is_live() const { return is_device && !is_recorded; }
};

// The exit code when there is nothing more to do.
std::optional<int> parse_options(int argc, char **argv, Options &options);

// Those asked for, in the order of the tables; flows of the user come last.  Throws flow_words::WordsError.
std::vector<Scenario> chosen_scenarios(const Options &options);
} // namespace mapi_cost
