// SPDX-License-Identifier: MIT
// Substitution: the groups of an expression -> other texts, at its first match.
#pragma once

#include <cstddef>
#include <string>

namespace mapi::anonymize
{
// Checks that PCRE2 accepts the expression and that it has that many groups.  Throws RuleError.
void check_expression(const std::string &expression, size_t groups);
} // namespace mapi::anonymize
