// SPDX-License-Identifier: MIT
// values: the value of an option of Snort -> that of an option of sids, always written alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "option.hpp"

namespace snort2sids
{
// All throw Refusal.

struct Content {
    std::string value;             // "\"...\"", perhaps after "!"
    std::vector<Option> modifiers; // those after commas
};
Content content_value(const Option &option);
std::string pcre_value(const Option &option); // "\"/.../flags\"", perhaps after "!"
std::string text_value(const Option &option); // of msg: "\"...\""
// Of classtype and reference, which have no quotes.
std::string bare_value(const Option &option);
// Without spaces, but for one between words; it must fit the pattern.
std::string plain_value(const Option &option, const char *pattern);
// A decimal number of 32 bits.
std::string number_value(const Option &option, unsigned least);
} // namespace snort2sids
