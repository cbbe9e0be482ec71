// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "options.hpp"

#include "common/command/arguments.hpp"
#include "source/variables.hpp"

namespace snort2sids
{
namespace
{
constexpr const char *kFooter =
    "Writes rules for sids that match the same packets. A rule that has no exact counterpart is "
    "refused; a summary on standard error counts the reasons.\n"
    "\n"
    "Examples:\n"
    "  snort2sids --config snort.conf rules/*.rules -o all.sids\n"
    "  snort2sids --var HOME_NET=10.0.0.0/8 --var EXTERNAL_NET='!$HOME_NET' web.rules\n"
    "  snort2sids --config snort.conf --explain 1394 rules/shellcode.rules\n"
    "\n"
    "Exit codes: 0 all rules are converted; 1 some are refused; 2 invalid usage or syntax, or a "
    "file cannot be read or written";

std::string check_variable(const std::string &text)
{
    const size_t sign = text.find('=');
    return sign != text.npos && sign + 1 < text.size() && is_variable_name(text.substr(0, sign))
               ? ""
               : "\"" + text + "\" is not NAME=VALUE (a name has letters, digits and _)";
}

void add_inputs(command::Arguments &arguments, Options &options,
                std::vector<std::string> &variables)
{
    arguments.add("rules", options.files, "rule files of Snort 2; \"-\" is standard input")
        .kind("RULES")
        .check(command::is_given);
    arguments
        .add("--config", options.configs,
             "take variables from this file, such as snort.conf; its includes are not read")
        .kind("FILE")
        .one_each_time()
        .check(command::is_given);
    arguments.add("--var", variables, "define a variable; files do not change its value")
        .kind("NAME=VALUE")
        .one_each_time()
        .check(check_variable);
    arguments.add_flag("--commented", options.takes_commented,
                       "convert rules that are commented out, too");
}
} // namespace

std::optional<int> parse_options(int argc, const char *const *argv, Options &options)
{
    std::vector<std::string> variables;
    command::Arguments arguments("Convert rules of Snort 2 into rules of sids.", "snort2sids");
    arguments.footer(kFooter);
    arguments.version("snort2sids " NETSLICE_VERSION);
    add_inputs(arguments, options, variables);
    arguments
        .add("-o,--output", options.output,
             "write the rules to this file (default: standard output)")
        .kind("FILE")
        .check(command::is_given);
    arguments.add_flag("--copy", options.settings.copies,
                       "write rules that copy their packets, instead of rules that count them");
    arguments.add_flag("--cooked", options.settings.cooks,
                       "rules about established TCP connections inspect streams, not packets");
    arguments.add_flag("--vlan", options.settings.sees_vlans,
                       "rules accept packets with one or two VLAN tags, too");
    arguments.add_flag("--comments", options.has_comments,
                       "before each rule, its place and header in the rules of Snort");
    arguments
        .add("--explain", options.explained,
             "write nothing but what becomes of the rule with this sid, and why")
        .kind("SID");
    arguments.add_flag("--refused", options.lists_refused, "list each refused rule");
    arguments.add_flag("-q,--quiet", options.is_quiet, "no summary; only errors");
    arguments.at_end([&] {
        if (options.files.empty())
            throw command::WrongUse("a rule file is required, such as snort2sids web.rules");
        for (const std::string &text : variables)
            options.variables.emplace_back(text.substr(0, text.find('=')),
                                           text.substr(text.find('=') + 1));
    });
    if (const auto reply = arguments.parse(argc, argv)) {
        reply->print();
        return reply->is_wrong ? kExitWrong : kExitDone;
    }
    return std::nullopt;
}
} // namespace snort2sids
