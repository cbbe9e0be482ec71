// SPDX-License-Identifier: MIT
// Substitution: an expression's groups -> other texts, where it matches first.
#pragma once

#include <cstddef>
#include <string>

namespace mapi::anonymize
{
// Whether PCRE2 takes the expression and it has so many groups.  Throws RuleError.
void check_expression(const std::string &expression, size_t groups);
} // namespace mapi::anonymize
