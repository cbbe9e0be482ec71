// SPDX-License-Identifier: MIT
// Rule check: a rule -> whether libmapi accepts its flow, without a source.
#pragma once

#include <memory>

#include "sids/language/rule.hpp"

namespace sids
{
// One at a time, before any other call of libmapi.
class RuleCheck
{
public:
    // Throws MapiError.
    explicit RuleCheck(bool are_all_cooked);
    ~RuleCheck();
    RuleCheck(const RuleCheck &) = delete;
    RuleCheck &operator=(const RuleCheck &) = delete;

    // Throws PlacedError if the rule is refused.  The flow bits of all rules count together.
    void check(const Rule &rule) const;

private:
    class Flows;
    std::unique_ptr<Flows> flows_;
};
} // namespace sids
