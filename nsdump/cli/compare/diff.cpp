// SPDX-License-Identifier: MIT
// nsdump diff: traces of two versions of a program -> what differs, and whether that is shown.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analyse/compare/compare.hpp"
#include "cli/commands.hpp"
#include "cli/compare/runs.hpp"
#include "cli/read/finish.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "export/comparison.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
struct Options : CompareChoices {
    std::string slice;
    std::string format = "text";
    std::string fail_on;
};

// Without a baseline the first of two traces is the baseline.
struct Paths {
    std::vector<std::string> first, second;

    std::vector<std::string> all() const
    {
        std::vector<std::string> paths = first;
        paths.insert(paths.end(), second.begin(), second.end());
        return paths;
    }
};

Paths paths_of(const Options &options)
{
    if (!options.baseline.empty()) {
        if (options.traces.empty())
            throw command::UsageError(
                "no trace to compare with the baseline (specify one or more)");
        return {baseline_paths(options.baseline), options.traces};
    }
    if (options.traces.size() != 2)
        throw command::UsageError("two traces are needed (name several runs of the first program "
                                  "with --baseline)");
    return {{options.traces[0]}, {options.traces[1]}};
}

std::string text_of(const Options &options, const Compared &compared)
{
    if (options.format == "json")
        return comparison_json(compared);
    if (options.format == "csv")
        return comparison_csv(compared);
    return comparison_text(compared, wants_colours(options.output));
}

bool fails(const std::string &fail_on, const Comparison &one)
{
    return (one.verdict == Verdict::kSlower && !fail_on.empty()) ||
           (one.verdict == Verdict::kFaster && fail_on == "different");
}

int run(const Options &options)
{
    const Paths paths = paths_of(options);
    std::vector<std::string> inputs = paths.all();
    check_inputs(inputs, options, "");
    inputs.push_back(options.calibration);
    command::Output output(options.output, inputs);
    const Runs first = read_runs(paths.first, options), second = read_runs(paths.second, options);
    const std::vector<Comparison> all = compare(first, second, options.options(), options.slice);
    if (all.empty() && !options.slice.empty())
        throw command::UsageError("no slice \"" + printable(options.slice) + "\" in any trace");
    if (all.empty())
        tell_warning(paths.first.front(),
                     "has no slices, and neither has what it is compared with");
    output.text() = text_of(options, {first, second, all, options.options()});
    finish_output(output);
    const bool has_failed = std::any_of(
        all.begin(), all.end(), [&](const Comparison &one) { return fails(options.fail_on, one); });
    return has_failed || has_findings(first) || has_findings(second) ? kExitFindings : kExitOk;
}

constexpr const char *kExamples = R"(
  nsdump diff old.nsl new.nsl                          one run of each
  nsdump diff --baseline old1.nsl,old2.nsl,old3.nsl new1.nsl new2.nsl
                                                       several: their variance is in the interval
  nsdump diff old.nsl new.nsl --fail-on slower         exit code 1 if a slice is slower
)";

constexpr const char *kVerdictHelp =
    R"(Verdicts of the second program, with 5 % chance of any wrong one:
  faster, slower       it takes less, more (of time, instructions or another counter)
  no difference shown  what differs may be by chance
  not comparable       and why: another machine, clock mode, calibration or counter source,
                       missing parts, a slice that only one has

)";

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    arguments.add("traces", options->traces, "the two traces, or those to compare with --baseline")
        .kind("TRACE");
    arguments.add("--slice", options->slice, "only slices with this name")
        .kind("NAME")
        .check(command::is_given);
    arguments
        .add("--fail-on", options->fail_on,
             "exit with 1 if a slice is slower, or if one is slower or faster")
        .one_of({"slower", "different"});
    add_compare_choices(arguments, *options);
    arguments.add_format(options->format, {"text", "json", "csv"});
    arguments.footer(kVerdictHelp + help_footer(kExamples));
    return [options] { return run(*options); };
}
} // namespace

const Command kDiff = {"diff", "Compare what slices cost in two programs, with verdicts", add};
} // namespace nsdump
