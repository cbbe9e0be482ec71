// SPDX-License-Identifier: MIT
// Rules in a text -> rules, or the errors as they are printed.
#pragma once

#include <string>
#include <vector>

#include "sids/language/rule_set.hpp"
#include "support/catch.hpp"

namespace sids_test
{
inline std::vector<sids::Rule> rules_of(const std::string &text)
{
    sids::RuleErrors errors;
    std::vector<sids::Rule> rules = sids::read_rules_of_text("t.rules", text, errors);
    INFO(errors.text());
    REQUIRE(errors.are_none());
    return rules;
}

inline sids::Rule rule_of(const std::string &text)
{
    const std::vector<sids::Rule> rules = rules_of(text);
    REQUIRE(rules.size() == 1);
    return rules.front();
}

inline std::string errors_of(const std::string &text)
{
    sids::RuleErrors errors;
    sids::read_rules_of_text("t.rules", text, errors);
    return errors.text();
}

// "FUNCTION argument" of each step.
inline std::vector<std::string> steps_of(const std::string &text)
{
    std::vector<std::string> steps;
    for (const sids::Step &step : rule_of(text).steps)
        steps.push_back(std::string(step.function) + " " + step.argument.text());
    return steps;
}
} // namespace sids_test
