// SPDX-License-Identifier: MIT
// Configuration file: which one is used, and its content.
#pragma once

#include <sstream>
#include <string>

namespace mapi::engine
{
// $MAPI_CONF, ./mapi.conf or /etc/mapi.conf, whichever exists first; empty if there is none.
std::string find_config();

// Reads the whole file, or throws Error, which names the file.
std::istringstream open_config(const std::string &path);

// The value of a key before the first section, unchecked; empty if the key is missing or no file
// can be read.
std::string find_config_value(const std::string &key);

// Whether the socket of mapid is in the user's home directory: MAPI 2's local=1.
bool is_mapid_local();
} // namespace mapi::engine
