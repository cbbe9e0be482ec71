// SPDX-License-Identifier: MIT
// cli: traces and stored reports -> the runs to compare, and what both commands have in common.
#include "cli/compare/runs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "analyse/compare/stored_report.hpp"
#include "cli/commands.hpp"
#include "cli/read/analysis.hpp"
#include "cli/read/finish.hpp"
#include "common/command/arguments.hpp"
#include "common/command/colour.hpp"
#include "common/command/output.hpp"

namespace nsdump
{
namespace
{
// The option that would change the figures of a trace, but not those of a stored report; or null.
const char *option_of_traces(const CompareChoices &choices)
{
    return !choices.calibration.empty()  ? "--calibration"
           : choices.has_no_thinning     ? "--no-thinning"
           : !choices.range.from.empty() ? "--from"
           : !choices.range.to.empty()   ? "--to"
                                         : nullptr;
}

StatsReport read_run(const std::string &path, const CompareChoices &choices)
{
    check_trace_name(path);
    if (is_stored_report(path)) {
        if (const char *const option = option_of_traces(choices))
            tell_warning(path, fmt::format("{} does not change it: JSON has the figures of when it "
                                           "was written",
                                           option));
        return read_stored_report(path);
    }
    TraceFile trace(path);
    return analyse_with_progress(trace, {choices.calibration, false, choices.is_quiet,
                                         !choices.has_no_thinning, false, choices.range});
}
} // namespace

void add_compare_choices(command::ArgumentSet &arguments, CompareChoices &choices)
{
    arguments
        .add("--baseline", choices.baseline,
             "runs to compare with: traces, or JSON of nsdump export --what stats; several "
             "separated by commas; may be repeated")
        .kind("FILES")
        .one_each_time()
        .check(command::is_given);
    arguments
        .add("--calibration", choices.calibration,
             "calibration.json of nscalibrate to use instead of the traces' own constants")
        .kind("FILE")
        .check(command::is_given);
    arguments.add_flag("--no-thinning", choices.has_no_thinning,
                       "net values by calibration only, also if probes were switched at random");
    arguments
        .add(
            "--run-spread", choices.run_spread_percent,
            "standard deviation between runs to assume if there is one run on each side (default: "
            "5, or the share of the time in which another program used the core's other thread, if "
            "that is more)")
        .kind("PERCENT")
        .range(0, 100);
    arguments.add_flag("--across-machines", choices.across_machines,
                       "compare although the machines or their calibrations differ");
    add_time_range(arguments, choices.range);
    add_output(arguments, choices.output);
    add_quiet(arguments, choices.is_quiet);
}

void check_inputs(const std::vector<std::string> &runs, const CompareChoices &choices,
                  const std::string &rules)
{
    const char *const option = option_of_traces(choices);
    if (option && std::ranges::all_of(runs, is_stored_report))
        throw command::UsageError(fmt::format("{} changes nothing: all figures are stored ones "
                                              "(omit it, or give traces instead of JSON)",
                                              option));
    std::vector<std::string> inputs = runs;
    inputs.insert(inputs.end(), {choices.calibration, rules});
    if (std::ranges::count(inputs, "-") > 1)
        throw command::UsageError("- is given more than once: standard input is one file (save "
                                  "the others, and name them)");
}

std::vector<std::string> baseline_paths(const std::vector<std::string> &given)
{
    std::vector<std::string> paths;
    for (const std::string &names : given) {
        std::error_code ignored; // reading the file reports what is wrong
        if (std::filesystem::exists(names, ignored)) {
            paths.push_back(names);
            continue;
        }
        for (size_t begin = 0; begin <= names.size();) {
            const size_t end = std::min(names.find(',', begin), names.size());
            if (end == begin)
                throw command::UsageError("--baseline: \"" + names +
                                          "\" has an empty name (separate names by one comma)");
            paths.push_back(names.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    return paths;
}

Runs read_runs(const std::vector<std::string> &paths, const CompareChoices &choices)
{
    Runs runs;
    for (const std::string &path : paths) {
        StatsReport report = read_run(path, choices);
        for (const std::string &warning : report.warnings)
            tell_warning(path, warning);
        if (report.is_interrupted)
            throw command::Interrupted();
        runs.push_back(std::move(report));
    }
    return runs;
}

bool has_findings(const Runs &runs)
{
    return std::any_of(runs.begin(), runs.end(),
                       [](const StatsReport &run) { return run.has_findings(); });
}

bool wants_colours(const std::string &output)
{
    const bool is_file = !output.empty() && output != "-";
    return command::has_colours(is_file ? -1 : STDOUT_FILENO, "auto");
}

void finish_output(command::Output &output)
{
    try {
        output.finish();
    } catch (const command::OutputClosed &) {
        return; // the exit code still has to be given
    }
}
} // namespace nsdump
