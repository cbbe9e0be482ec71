// SPDX-License-Identifier: MIT
// Rule: the text "PROTO,FIELD,FUNC[,params]" of MAPI 2's ANONYMIZE -> what is to be done to which field.
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
// Parameters are of the method that their comment names, and of no other.
struct Rule {
    Protocol protocol = Protocol::kIp;
    Field field = Field::kPayload;
    Method method = Method::kUnchanged;

    uint32_t keep_bytes = 0;                                       // STRIP
    HashAlgorithm hash = HashAlgorithm::kSha2;                     // HASHED
    Padding padding = Padding::kZero;                              // HASHED
    std::vector<uint8_t> key;                                      // HASHED, PREFIX_PRESERVING; empty: none was given
    DistributionType distribution = DistributionType::kUniform;    // MAP_DISTRIBUTION
    int64_t first = 0, second = 0;                                 // MAP_DISTRIBUTION: minimum and maximum, or mean and deviation
    std::string text;                                              // PATTERN_FILL, REPLACE: bytes; REGEXP: the expression
    std::vector<std::optional<std::string>> replacements;          // REGEXP: of each group; none: it stays
};

// Throws RuleError: which part is refused, and what is allowed there.
Rule parse_rule(std::string_view text);

// Of 256 bits: 32 characters as they are, as MAPI 2 takes them, or 64 hexadecimal digits.  Throws RuleError.
std::vector<uint8_t> parse_address_key(std::string_view text);

// ANONYMIZEIP's rule: both addresses, prefix preserving, with a key for parse_address_key().  Throws RuleError.
Rule address_rule(std::string_view key);

// Whether the field may become longer by the rule.
bool may_grow(const Rule &rule);

// Whether the field may become longer or shorter, as options of a header, payload and text may.
bool is_resizable(Field field);
} // namespace mapi::anonymize
