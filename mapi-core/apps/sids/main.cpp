// SPDX-License-Identifier: MIT
// sids: rules, and captures or an interface -> the packets that match, as a table, alerts and
// captures.
#include <string>

#include "captures/source.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/tell.hpp"
#include "language/rule_set.hpp"
#include "options.hpp"
#include "run/check.hpp"
#include "run/session.hpp"

namespace sids
{
namespace
{
int run(const Options &options)
{
    for (const std::vector<std::string> &inputs : {options.rules, options.source.captures}) {
        for (const std::string &input : inputs)
            command::check_outputs(input, {options.output, options.alerts});
    }
    RuleErrors errors;
    std::vector<Rule> rules = read_rules(options.rules, errors);
    if (options.is_check)
        return check_rules(options, rules, errors);
    if (!errors.are_none()) {
        command::tell("{}", errors.text());
        return kExitUsage;
    }
    return run_session(options, std::move(rules));
}
} // namespace
} // namespace sids

int main(int argc, char **argv)
{
    using namespace sids;
    command_keep_standard_files();
    command_ignore_write_signals();
    command_catch_requests();
    Options options;
    try {
        if (const auto code = parse_options(argc, argv, options))
            return *code;
        return run(options);
    } catch (const command::UsageError &error) {
        command::tell("sids: {}\n", error.what());
        return kExitUsage;
    } catch (const command::OutputClosed &) {
        command::tell("sids: output: cannot write: the reader closed the pipe\n");
        return kExitRefused;
    } catch (const std::exception &error) {
        if (options.source.waits && command_was_interrupted())
            return kExitInterrupted;
        command::tell("sids: {}\n", error.what());
        return kExitRefused;
    }
}
