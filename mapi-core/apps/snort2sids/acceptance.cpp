// SPDX-License-Identifier: MIT
#include "acceptance.hpp"

#include "sids/language/option.hpp"
#include "sids/language/rule_set.hpp"

namespace snort2sids
{
std::string Acceptance::refusal_of(const std::string &rule) const
{
    sids::RuleErrors errors;
    const auto rules = sids::read_rules_of_text("", rule, errors);
    if (!errors.are_none())
        return errors.first().front().message;
    try {
        for (const sids::Rule &one : rules)
            check_.check(one);
    } catch (const sids::PlacedError &error) {
        return error.what();
    }
    return {};
}
} // namespace snort2sids
