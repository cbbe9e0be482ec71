// SPDX-License-Identifier: MIT
// STR_SEARCH pattern text -> the byte strings that it stands for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mapi::match
{
// text      stands for itself
// |0d 0a|   the bytes with these hex values; two adjacent digits per byte, spaces between bytes
// \|        one pipe (a backslash before anything else is a backslash)
// ||        ends one alternative and begins the next
//
// Read from left to right: inside a hex block the next pipe always closes the block, so |41||42| is
// "AB", and the alternatives "A" and "B" in hex are |41||||42|.  Throws PatternError.
std::vector<std::string> parse_pattern(std::string_view text);
} // namespace mapi::match
