// SPDX-License-Identifier: MIT
// export: text out of a trace -> text that is safe in CSV, JSON or on a terminal.
#pragma once

#include <string>
#include <string_view>

#include "command/printable.hpp"

namespace nsdump
{
// Quoted where RFC 4180 asks for it.
std::string csv_field(std::string_view text);
// With its quotation marks; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);
// A name must not be able to drive the terminal.
using command::printable;
} // namespace nsdump
