// SPDX-License-Identifier: MIT
// Rule: the text "PROTO,FIELD,FUNC[,params]" of MAPI 2's ANONYMIZE -> a function and the field it
// changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anonymize/errors.hpp"
#include "anonymize/vocabulary.hpp"

namespace mapi::anonymize
{
// A parameter applies only to the methods named in its comment.
struct Rule {
    Protocol protocol = Protocol::kIp;
    Field field = Field::kPayload;
    Method method = Method::kUnchanged;

    uint32_t keep_bytes = 0;                   // STRIP
    HashAlgorithm hash = HashAlgorithm::kSha2; // HASHED
    Padding padding = Padding::kZero;          // HASHED
    std::vector<uint8_t> key;                  // HASHED, PREFIX_PRESERVING; empty: none given
    DistributionType distribution = DistributionType::kUniform; // MAP_DISTRIBUTION
    int64_t first = 0, second = 0; // MAP_DISTRIBUTION: minimum and maximum, or mean and deviation
    std::string text;              // PATTERN_FILL, REPLACE: bytes; REGEXP: the expression
    std::vector<std::optional<std::string>> replacements; // REGEXP: per group; nullopt: unchanged
};

// Throws RuleError with the part that is wrong and what is allowed there.
Rule parse_rule(std::string_view text);

// 256 bits: 32 characters taken literally, as in MAPI 2, or 64 hexadecimal digits.  Throws
// RuleError.
std::vector<uint8_t> parse_address_key(std::string_view text);

// ANONYMIZEIP's rule: both addresses, prefix-preserving, with a key for parse_address_key().
// Throws RuleError.
Rule address_rule(std::string_view key);

// Whether the rule may lengthen the field.
bool may_grow(const Rule &rule);

// Whether the field may grow or shrink, as header options, payload and text may.
bool is_resizable(Field field);
} // namespace mapi::anonymize
