// SPDX-License-Identifier: MIT
// Check: rules -> whether libmapi takes them, without a source.
#pragma once

#include <vector>

#include "sids/language/rule_set.hpp"
#include "sids/options.hpp"

namespace sids
{
// Reports all errors, also those that reading found; the exit code.
int check_rules(const Options &options, const std::vector<Rule> &rules, RuleErrors &errors);
} // namespace sids
