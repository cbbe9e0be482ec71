// SPDX-License-Identifier: MIT
// Configuration file: which one counts, and what stands in it.
#pragma once

#include <sstream>
#include <string>

namespace mapi::engine
{
// $MAPI_CONF, ./mapi.conf or /etc/mapi.conf, the first that is there; empty when none is.
std::string find_config();

// Whole, or not at all: throws Error, which names the file.
std::istringstream open_config(const std::string &path);

// Of a key before the first section, unchecked; empty: it is not there, or no file that can be read is.
std::string find_config_value(const std::string &key);

// Whether mapid and its clients meet in the user's home: MAPI 2's local=1.
bool is_mapid_local();
} // namespace mapi::engine
