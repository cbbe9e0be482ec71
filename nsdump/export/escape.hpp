// SPDX-License-Identifier: MIT
// export: text out of a trace -> text that is safe in CSV, JSON or on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace nsdump
{
// Quoted where RFC 4180 asks for it.
std::string csv_field(std::string_view text);
// With its quotation marks; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);
// A name must not be able to drive the terminal.  Characters beyond ASCII stay as they are where the locale's code is UTF-8;
// controls, what is not UTF-8, and what would change the order of letters are shown as \xNN.
std::string printable(std::string_view text);
// Columns that text of printable() takes on a terminal: wide characters take two, combining ones none.
std::size_t display_width(std::string_view text);
} // namespace nsdump
