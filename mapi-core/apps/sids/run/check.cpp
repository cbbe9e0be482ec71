// SPDX-License-Identifier: MIT
#include "check.hpp"

#include "common/command/counted.hpp"
#include "common/command/tell.hpp"
#include "rule_check.hpp"
#include "sids/language/option.hpp"

namespace sids
{
int check_rules(const Options &options, const std::vector<Rule> &rules, RuleErrors &errors)
{
    const RuleCheck check(options.are_all_cooked);
    for (const Rule &rule : rules) {
        try {
            check.check(rule);
        } catch (const PlacedError &error) {
            errors.add({rule.line, error.offset(), error.what()});
        }
    }
    command::tell("{}", errors.text());
    if (!errors.are_none())
        return kExitUsage;
    if (!options.is_quiet)
        command::tell("sids: {}, no error\n", command::counted(rules.size(), "rule"));
    return kExitDone;
}
} // namespace sids
