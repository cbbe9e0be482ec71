// SPDX-License-Identifier: MIT
// Characters: what blanks and names are in rule files; independent of the locale.
#pragma once

#include <cstddef>
#include <string_view>

namespace sids
{
constexpr std::string_view kBlanks = " \t\r\v\f";

inline bool is_of_name(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_';
}

inline size_t count_blanks(std::string_view text)
{
    const size_t count = text.find_first_not_of(kBlanks);
    return count == std::string_view::npos ? text.size() : count;
}

inline std::string_view without_blanks_at_end(std::string_view text)
{
    const size_t last = text.find_last_not_of(kBlanks);
    return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}
} // namespace sids
