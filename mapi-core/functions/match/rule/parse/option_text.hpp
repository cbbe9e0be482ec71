// SPDX-License-Identifier: MIT
// Option text: the options of a rule as text -> their names and values with their places; then
// lists, numbers and byte strings in a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mapi::match::rule
{
// A part of the text, without the blanks around it, and where it begins.
struct Part {
    std::string_view text;
    size_t at = 0;

    bool is_empty() const { return text.empty(); }
    Part from(size_t first) const;
};

struct OptionText {
    Part name;
    Part value; // what is between the colon and the semicolon
    bool has_value = false;
};

// Throws RuleError, as all of this header.  A semicolon that is escaped or in double quotes does
// not end an option.
std::vector<OptionText> split_options(std::string_view text);

// The parts between separators.
std::vector<Part> split(Part list, char separator);

// Removes a leading `!`; returns whether there was one.
bool take_negation(Part &value);

// Removes the double quotes around it, if any.
Part without_quotes(Part value);

// Decimal, or hexadecimal after 0x; the whole part must be a number in the range.
int64_t number_of(Part part, int64_t lowest, int64_t highest);
std::optional<int64_t> number_if_any(Part part);

// The bytes of a content: `|41 42|` is hex, and a character after a backslash stands for itself.
std::string bytes_of(Part quoted);
} // namespace mapi::match::rule
