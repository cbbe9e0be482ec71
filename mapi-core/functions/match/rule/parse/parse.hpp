// SPDX-License-Identifier: MIT
// The match options of a rule as text -> the rule.
#pragma once

#include <string_view>

#include "match/rule/options.hpp"

namespace mapi::match::rule
{
// Throws RuleError, whose text begins with the place in the options.
Rule parse(std::string_view options);
} // namespace mapi::match::rule
