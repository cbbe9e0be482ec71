// SPDX-License-Identifier: MIT
// cli: traces and stored reports -> the runs to compare, and what both commands have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyse/compare/comparable.hpp"
#include "analyse/compare/side.hpp"
#include "cli/read/time_range.hpp"

namespace command
{
class Output;
} // namespace command

namespace nsdump
{
// Options of `diff` and `gate`.
struct CompareChoices {
    std::vector<std::string> traces;
    std::vector<std::string> baseline; // as given: names separated by commas
    std::string calibration;
    std::string output;
    std::optional<double> run_spread_percent;
    bool has_no_thinning = false;
    bool across_machines = false;
    bool is_quiet = false;
    TimeRange range; // of each trace

    CompareOptions options() const
    {
        CompareOptions options{{}, across_machines};
        if (run_spread_percent)
            options.run_spread = *run_spread_percent / 100;
        return options;
    }
};

// All but the traces; the output's help differs.
void add_compare_choices(command::ArgumentSet &arguments, CompareChoices &choices);

// Throws UsageError if several of the inputs are "-", which can be read only once, or if a choice
// has no effect on any of them.  `rules` may be empty.
void check_inputs(const std::vector<std::string> &runs, const CompareChoices &choices,
                  const std::string &rules);

// The name itself if there is such a file, otherwise the names between its commas.
std::vector<std::string> baseline_paths(const std::vector<std::string> &given);

// Each is a trace, or JSON of `export --what stats`.  Warnings go to standard error.  Throws
// TraceError, and Interrupted on Ctrl-C: half a trace is not compared.
Runs read_runs(const std::vector<std::string> &paths, const CompareChoices &choices);
bool has_findings(const Runs &runs);

// On a terminal, unless NO_COLOR is set or the terminal is a dumb one.
bool wants_colours(const std::string &output);

// As Output::finish(); a reader that closed the pipe does not change the verdict.
void finish_output(command::Output &output);
} // namespace nsdump
