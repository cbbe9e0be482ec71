// SPDX-License-Identifier: MIT
// snort2sids: rules of Snort 2 -> rules of sids that match the same packets.
#include <exception>

#include "acceptance.hpp"
#include "collection.hpp"
#include "common/command/counted.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/tell.hpp"
#include "options.hpp"
#include "report.hpp"
#include "source/malformed.hpp"

namespace snort2sids
{
namespace
{
std::string path_of(const std::string &name)
{
    return name == "-" ? "/dev/stdin" : name;
}

void fix_variables(const Options &options, Variables &variables)
{
    for (const auto &[name, value] : options.variables) {
        try {
            variables.fix(name, value);
        } catch (const Malformed &error) {
            throw command::UsageError("--var " + name + ": " + error.what());
        }
    }
}

int explain(const Options &options, const std::vector<Result> &results)
{
    const std::string text = explanation_text(results, *options.explained);
    if (text.empty()) {
        command::tell("snort2sids: no rule has sid {}{}\n", *options.explained,
                      options.takes_commented ? ""
                                              : " (--commented looks at those in comments, too)");
        return kExitWrong;
    }
    command::write_whole("", text);
    return text.find(" is refused: ") == text.npos ? kExitDone : kExitRefused;
}

int finish(const Options &options, const Collection &collection, const RuleFiles &files,
           command::Output &output)
{
    output.text() = rules_text(collection.results(), options.has_comments);
    output.finish();
    if (options.lists_refused)
        command::tell("{}", refused_text(collection.results()));
    if (!options.is_quiet)
        command::tell("{}", summary_text(collection.results(), files.skipped()));
    for (const Result &result : collection.results())
        if (result.refusal())
            return kExitRefused;
    return kExitDone;
}

int run(const Options &options)
{
    std::vector<std::string> inputs;
    for (const auto *const list : {&options.configs, &options.files})
        for (const std::string &name : *list)
            inputs.push_back(path_of(name));
    command::Output output(options.explained ? "" : options.output, inputs);
    Variables variables;
    fix_variables(options, variables);
    const Acceptance acceptance;
    Collection collection(options.settings, variables,
                          [&](const std::string &rule) { return acceptance.refusal_of(rule); });
    const std::function<void(const RuleLine &)> take = [&](const RuleLine &rule) {
        collection.add(rule);
    };
    RuleFiles files(variables, options.takes_commented, take);
    for (const std::string &name : options.configs)
        files.read_config(path_of(name));
    for (const std::string &name : options.files)
        files.read(path_of(name));
    if (options.explained)
        return explain(options, collection.results());
    if (!files.problems().empty()) {
        uint64_t lines = 0;
        for (const RuleFiles::Problem &problem : files.problems())
            lines += problem.lines;
        command::tell("{}snort2sids: nothing is written because of {} in {}{}\n",
                      problems_text(files.problems()),
                      command::counted(files.problems().size(), "error"),
                      command::counted(lines, "line"),
                      files.has_too_many_problems() ? " (the rest was not read)" : "");
        return kExitWrong;
    }
    return finish(options, collection, files, output);
}
} // namespace
} // namespace snort2sids

int main(int argc, char **argv)
{
    using namespace snort2sids;
    command_keep_standard_files();
    command_ignore_write_signals();
    Options options;
    try {
        if (const auto code = parse_options(argc, argv, options))
            return *code;
        return run(options);
    } catch (const command::OutputClosed &) {
        return kExitDone;
    } catch (const std::exception &error) {
        command::tell("snort2sids: {}\n", error.what());
        return kExitWrong;
    }
}
