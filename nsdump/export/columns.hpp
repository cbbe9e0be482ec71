// SPDX-License-Identifier: MIT
// export: text -> columns of a terminal, in whole characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nsdump
{
// Columns that the result of printable() takes: wide characters take two, combining ones none.
size_t display_width(std::string_view text);
// As much of the text as fits, with `mark` at its end if that is not all of it.
std::string cut_to(std::string_view text, size_t columns, std::string_view mark);
// Spaces that the text lacks.
std::string padding(std::string_view text, size_t columns);
std::string left_aligned(std::string_view text, size_t columns);
std::string right_aligned(std::string_view text, size_t columns);
} // namespace nsdump
