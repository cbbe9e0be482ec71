// SPDX-License-Identifier: MIT
// Old drivers: MAPI 2's driver names in mapi.conf -> present drivers.
#pragma once

#include <string>

namespace mapi::engine
{
// The driver that replaces `written`; `written` itself if it is not a name of MAPI 2, or has no
// replacement.
std::string present_driver(const std::string &written, const std::string &path);
// The same for a file, whatever its name is.
std::string present_file_driver(const std::string &written);

bool is_old_driver(const std::string &name);

// A remedy for a driver of MAPI 2 that has no replacement; empty for other names.
std::string advice_for(const std::string &driver);
} // namespace mapi::engine
