// SPDX-License-Identifier: MIT
// Old drivers: names that mapi.conf has for MAPI 2 -> drivers of today.
#pragma once

#include <string>

namespace mapi::engine
{
// The driver that reads what `written` read there; `written` itself when it is none of MAPI 2's, or there is none for that.
std::string present_driver(const std::string &written, const std::string &path);

// What to do instead of a driver of MAPI 2 that is not there; empty for other names.
std::string advice_for(const std::string &driver);
} // namespace mapi::engine
