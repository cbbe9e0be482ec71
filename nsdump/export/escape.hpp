// SPDX-License-Identifier: MIT
// export: text from a trace -> text that is safe in CSV, JSON or on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace nsdump
{
// In utf8_text(), quoted if RFC 4180 requires it.
std::string csv_field(std::string_view text);
// In utf8_text(), with its quotation marks.
std::string json_string(std::string_view text);
// Makes text safe for a terminal.  In a UTF-8 locale, characters beyond ASCII are unchanged.
// Control characters, invalid UTF-8, and characters that change the text direction are shown as
// \xNN.
std::string printable(std::string_view text);
// The same of utf8_text(), for files, which are UTF-8 in every locale.
std::string printable_utf8(std::string_view text);
// The same as text or an attribute in quotation marks of an XML file.
std::string xml_text(std::string_view text);
} // namespace nsdump
