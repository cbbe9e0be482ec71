// SPDX-License-Identifier: MIT
// Old drivers: names that mapi.conf has for MAPI 2 -> drivers of today.
#pragma once

#include <string>

namespace mapi::engine
{
// The driver that reads what `written` read there; `written` itself when it is none of MAPI 2's, or there is none for that.
std::string present_driver(const std::string &written, const std::string &path);
// The same of a file, whatever its name is.
std::string present_file_driver(const std::string &written);

bool is_old_driver(const std::string &name);

// What to do instead of a driver of MAPI 2 that is not there; empty for other names.
std::string advice_for(const std::string &driver);
} // namespace mapi::engine
