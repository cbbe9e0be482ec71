// SPDX-License-Identifier: MIT
// option: "content:\"a\\;b\"; nocase;" -> names and values, each with its place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace snort2sids
{
struct Option {
    std::string name;  // in lower case
    std::string value; // as written, without the spaces around it
    bool has_value = false;
    size_t name_offset = 0, value_offset = 0; // in the rule's text
};

// `text` is a rule, its options begin with the "(" at `body`.  As in Snort, a ";" ends an option,
// also in quotes, unless "\" is before it.  Throws Malformed.
std::vector<Option> split_options(std::string_view text, size_t body);
} // namespace snort2sids
