// SPDX-License-Identifier: MIT
// acceptance: a converted rule -> why sids refuses it, such as for a value out of range.
#pragma once

#include <string>

#include "sids/run/rule_check.hpp"

namespace snort2sids
{
class Acceptance
{
public:
    // Empty: it is accepted.
    std::string refusal_of(const std::string &rule) const;

private:
    const sids::RuleCheck check_{false};
};
} // namespace snort2sids
