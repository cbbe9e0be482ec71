// SPDX-License-Identifier: MIT
// What the text of a rule can be refused with.
#pragma once

#include <stdexcept>
#include <string>

namespace mapi::anonymize
{
// The part of "PROTO,FIELD,FUNC,params" that is wrong: MAPI numbers them as if they were arguments.
enum class RulePart : int { kProtocol = 1, kField = 2, kMethod = 3, kParameters = 4 };

class RuleError : public std::runtime_error
{
public:
    RuleError(RulePart part, const std::string &message) : std::runtime_error(message), part_(part) {}

    RulePart part() const noexcept { return part_; }

private:
    RulePart part_;
};
} // namespace mapi::anonymize
