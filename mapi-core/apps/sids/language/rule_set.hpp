// SPDX-License-Identifier: MIT
// Rule set: rule files and what they include -> rules, or all that is wrong in them.
#pragma once

#include <string>
#include <vector>

#include "rule.hpp"

namespace sids
{
constexpr size_t kErrorsShown = 20;

class RuleErrors
{
public:
    void add(RuleError error);
    bool are_none() const { return count_ == 0; }
    size_t count() const { return count_; }
    const std::vector<RuleError> &first() const { return first_; }
    // The first kErrorsShown, and how many more there are.
    std::string text() const;

private:
    std::vector<RuleError> first_;
    size_t count_ = 0;
};

// Rules of all files in their order; those without errors, if there are any.
// Again: while packets arrive, so that nothing is read that could make the program wait.
enum class Reading { kFirst, kAgain };
std::vector<Rule> read_rules(const std::vector<std::string> &paths, RuleErrors &errors,
                             Reading reading = Reading::kFirst);
// For text that is not in a file; `name` is what errors call it.
std::vector<Rule> read_rules_of_text(const std::string &name, std::string_view text,
                                     RuleErrors &errors);
} // namespace sids
