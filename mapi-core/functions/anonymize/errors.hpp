// SPDX-License-Identifier: MIT
// Errors in the text of a rule.
#pragma once

#include <stdexcept>
#include <string>

namespace mapi::anonymize
{
// The wrong part of "PROTO,FIELD,FUNC,params": MAPI numbers the parts as if they were arguments.
enum class RulePart : int { kProtocol = 1, kField = 2, kMethod = 3, kParameters = 4 };

class RuleError : public std::runtime_error
{
public:
    RuleError(RulePart part, const std::string &message) : std::runtime_error(message), part_(part)
    {
    }

    RulePart part() const noexcept { return part_; }

private:
    RulePart part_;
};
} // namespace mapi::anonymize
