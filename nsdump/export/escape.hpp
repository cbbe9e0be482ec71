// SPDX-License-Identifier: MIT
// export: text from a trace -> text that is safe in CSV, JSON or on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace nsdump
{
// Quoted if RFC 4180 requires it.
std::string csv_field(std::string_view text);
// With its quotation marks; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);
// Bytes that are not UTF-8 become U+FFFD.
std::string utf8_text(std::string_view text);
// Makes text safe for a terminal.  In a UTF-8 locale, characters beyond ASCII are unchanged.
// Control characters, invalid UTF-8, and characters that change the text direction are shown as
// \xNN.
std::string printable(std::string_view text);
// The same for files, which are UTF-8 in every locale.
std::string printable_utf8(std::string_view text);
// The same as text or an attribute in quotation marks of an XML file.
std::string xml_text(std::string_view text);
// Columns that the result of printable() takes on a terminal: wide characters take two, combining
// ones none.
size_t display_width(std::string_view text);
} // namespace nsdump
