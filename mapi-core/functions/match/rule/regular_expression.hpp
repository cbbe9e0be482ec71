// SPDX-License-Identifier: MIT
// A regular expression of a rule, by PCRE2: bytes -> the next match.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace mapi::match::rule
{
struct ExpressionFlags {
    bool ignores_case = false, dot_matches_newline = false, has_lines = false, is_extended = false;
    bool is_anchored = false, dollar_is_end = false, is_ungreedy = false;
};

class RegularExpression
{
public:
    enum class Outcome : uint8_t { kFound, kNone, kGivenUp };
    struct Match {
        Outcome outcome;
        size_t end;     // of the match
        uint32_t steps; // of PCRE2 that the search may have taken
    };

    // Throws RuleError; at: where the expression begins in the rule.
    RegularExpression(std::string_view text, size_t at, const ExpressionFlags &flags);
    ~RegularExpression();
    RegularExpression(const RegularExpression &) = delete;
    RegularExpression &operator=(const RegularExpression &) = delete;

    uint64_t memory_bytes() const { return memory_bytes_; }
    // A later search of the same bytes finds nothing else.
    bool matches_once() const { return matches_once_; }

    // Gives up rather than take more steps than that.  Not thread-safe.
    Match find(std::span<const uint8_t> bytes, size_t from, uint32_t most_steps) const;

private:
    struct Code;

    std::unique_ptr<Code> code_;
    uint64_t memory_bytes_ = 0;
    bool matches_once_ = false;
};
} // namespace mapi::match::rule
