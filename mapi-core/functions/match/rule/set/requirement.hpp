// SPDX-License-Identifier: MIT
// Requirement: a rule -> something that every packet which matches it has, and that is quick to
// find.
#pragma once

#include <cstdint>
#include <string_view>

#include "match/rule/options.hpp"

namespace mapi::match::rule
{
struct Requirement {
    enum class Kind : uint8_t {
        kNothing,
        kPayload,      // at least one byte
        kHttp,         // a payload that begins like HTTP
        kHttpLiteral,  // and `text` in one of the parts of HTTP
        kLiteral,      // `text` anywhere in the payload
        kFixedLiteral, // `text` at `offset` of the payload
    };

    Kind kind = Kind::kNothing;
    bool ignores_case = false;  // of the text's ASCII letters
    std::string_view text = {}; // of the rule
    uint32_t offset = 0;
};

Requirement requirement_of(const Rule &rule);
} // namespace mapi::match::rule
