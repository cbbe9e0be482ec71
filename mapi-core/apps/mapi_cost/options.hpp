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
    kExitFindings =
        1, // measured, but the capture is damaged, records were lost, or figures are unavailable
    kExitUsage = 2,
    kExitRefused = 3, // no such capture, a filter that does not compile, no room for traces or
                      // output; completed rows are printed
    kExitInterrupted = 130,
};

struct Options {
    std::string capture; // or the name of the device
    bool is_device = false;
    bool is_recorded = false; // record packets of the device first and measure on these
    bool is_erf = false;
    std::string filter; // empty: chosen to match the capture
    std::string text = "www";
    std::string json_file; // written next to the output
    std::string csv_file;
    std::string format = "text";
    std::string output; // empty: standard output
    bool is_quiet = false;
    bool has_details = false;
    std::vector<std::string> scenarios;
    std::vector<std::string> flows; // flow expressions of --flow
    bool is_list = false;
    bool wants_instructions = true;
    RunSettings run;

    bool is_live() const { return is_device && !is_recorded; }
};

// Returns an exit code if there is nothing more to do.
std::optional<int> parse_options(int argc, char **argv, Options &options);

// The selected scenarios in the order of the tables, then the flows of --flow.  Throws
// flow_expression::ExpressionError.
std::vector<Scenario> chosen_scenarios(const Options &options);
} // namespace mapi_cost
