// SPDX-License-Identifier: MIT
// Rule parameters: what follows the function's name in a rule's text.
#pragma once

#include <optional>
#include <string_view>

#include "anonymize/rule.hpp"

namespace mapi::anonymize
{
// `text` is what follows the comma after the function's name; nullopt if there is none.  Fills the
// parameters of rule.method.  Throws RuleError.
void parse_parameters(std::optional<std::string_view> text, Rule &rule);
} // namespace mapi::anonymize
