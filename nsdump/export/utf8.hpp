// SPDX-License-Identifier: MIT
// export: bytes -> characters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace nsdump
{
struct Character {
    size_t bytes;
    std::optional<char32_t> code; // none: not UTF-8, and as many bytes as could begin a character
};

// Of a text that is not empty.
Character first_character(std::string_view text);

// Columns that a character takes on a terminal; negative: it is not printable.
int columns_of(char32_t code);

// Bytes that are not UTF-8 become U+FFFD, which stands for as many of them as could begin one
// character, as Unicode recommends, and nlohmann's dump() and Python's decoder do.  All files
// have the names of a trace in this form, so that they are the same in each format.
std::string utf8_text(std::string_view text);
} // namespace nsdump
