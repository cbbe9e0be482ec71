// SPDX-License-Identifier: MIT
// nsdump gate: rules and traces -> whether every rule holds, for continuous integration.
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analyse/compare/figure_names.hpp"
#include "analyse/compare/gate.hpp"
#include "cli/commands.hpp"
#include "cli/compare/runs.hpp"
#include "common/command/arguments.hpp"
#include "common/command/counted.hpp"
#include "common/command/output.hpp"
#include "common/command/tell.hpp"
#include "common/file_error/file_error.h"
#include "decode/error.hpp"
#include "export/escape.hpp"
#include "export/gate.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kMostBytes = 1 << 20; // of a file of rules

struct Options : CompareChoices {
    std::string rules;
    std::string junit;
    std::string markdown;
    bool is_strict = false;
};

// Of `path`, for messages and reports.
std::string title_of(const std::string &path)
{
    return path == "-" ? "standard input" : path;
}

std::string text_of_rules(const std::string &path)
{
    std::ifstream file;
    if (path != "-")
        file.open(path);
    if (!file)
        throw TraceError(path + ": cannot open: " + nslice_read_error(errno));
    std::istream &input = path == "-" ? std::cin : file;
    std::string text(kMostBytes + 1, '\0');
    errno = 0;
    input.read(text.data(), std::streamsize(text.size()));
    if (input.bad() || errno != 0) // of a folder
        throw TraceError(title_of(path) + ": cannot read: " + nslice_read_error(errno));
    text.resize(size_t(input.gcount()));
    if (text.size() > kMostBytes)
        throw command::UsageError(title_of(path) +
                                  ": has more than 1 MiB, which rules do not need");
    return text;
}

// Reports every one; throws if there are any.
void refuse(const std::vector<RuleFault> &faults, const std::string &title)
{
    for (const RuleFault &fault : faults)
        command::tell("nsdump: {}:{}:{}: {}\n", title, fault.line, fault.column,
                      printable(fault.what));
    if (!faults.empty())
        throw command::UsageError(
            fmt::format("{}: {} (nothing was judged)", title,
                        command::counted(faults.size(), "rule is invalid", "rules are invalid")));
}

std::vector<Rule> rules_of(const std::string &path)
{
    RuleFile file = parse_rules(text_of_rules(path));
    refuse(file.faults, title_of(path));
    if (file.rules.empty())
        throw command::UsageError(title_of(path) +
                                  ": has no rules (write lines such as parse: net_ns <= 300)");
    return file.rules;
}

int run(const Options &options)
{
    const std::vector<std::string> baseline_names = baseline_paths(options.baseline);
    std::vector<std::string> inputs = options.traces;
    inputs.insert(inputs.end(), baseline_names.begin(), baseline_names.end());
    check_inputs(inputs, options, options.rules);
    inputs.insert(inputs.end(), {options.rules, options.calibration});
    const std::vector<Rule> rules = rules_of(options.rules);
    const std::string title = title_of(options.rules);
    command::check_outputs("", {options.output, options.junit, options.markdown});
    command::Output output(options.output, inputs);
    std::vector<std::unique_ptr<command::Output>> files;
    for (const std::string *path : {&options.junit, &options.markdown})
        files.push_back(path->empty() ? nullptr : std::make_unique<command::Output>(*path, inputs));
    const Runs runs = read_runs(options.traces, options);
    const Runs baseline = read_runs(baseline_names, options);
    refuse(unknown_figures(rules, runs, baseline), title);
    const std::vector<GateResult> results =
        judge_rules(rules, runs, baseline, {options.options(), options.is_strict});
    if (files[0])
        files[0]->text() = gate_junit(results, title);
    if (files[1])
        files[1]->text() = gate_markdown(results, title);
    output.text() = gate_text(results, wants_colours(options.output));
    finish_output(output); // also if a report cannot be written
    for (const auto &file : files)
        if (file)
            finish_output(*file);
    const bool has_failed = std::any_of(results.begin(), results.end(),
                                        [](const GateResult &one) { return one.fails; });
    return has_failed ? kExitFindings : kExitOk;
}

constexpr const char *kExamples = R"(
  nsdump gate costs.rules new.nsl --junit gate.xml     with results for a CI service
  nsdump gate costs.rules new.nsl --baseline old.json  rules may say: <= baseline +1%
)";

constexpr const char *kGrammar = R"(Rules, one a line:
  parse: net_ns p99 <= 300                             see nsdump(1) for all forms
  BPF_FILTER: instructions/packet <= 45 +0.5% strict   strict: undecided fails
  filter / parse: net_ns <= 1.2
  parse: instructions/packet <= baseline +1%
  *: lost == 0

Exit code 1: a rule is broken, or cannot be judged: a missing slice, raw values only, missing parts.
A rule whose limit lies inside the interval of its figure is undecided: it passes, with a note.

)";

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    arguments.add("rules", options->rules, "file of rules; -: standard input")
        .kind("RULES")
        .required();
    arguments.add("traces", options->traces, "traces of runs of one program, or their JSON")
        .kind("TRACE")
        .required();
    arguments.add_flag("--strict", options->is_strict, "a rule that is undecided fails");
    arguments.add("--junit", options->junit, "also write the results as JUnit XML")
        .kind("FILE")
        .check(command::is_given);
    arguments.add("--markdown", options->markdown, "also write a short table, for a pull request")
        .kind("FILE")
        .check(command::is_given);
    add_compare_choices(arguments, *options);
    arguments.footer(kGrammar + help_footer(kExamples));
    return [options] { return run(*options); };
}
} // namespace

const Command kGate = {"gate", "Check figures against rules, for continuous integration", add};
} // namespace nsdump
