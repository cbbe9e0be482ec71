// SPDX-License-Identifier: MIT
// Configuration: mapi.conf -> settings of devices.
#pragma once

#include <istream>
#include <sstream>
#include <string>
#include <vector>

#include "engine/registry.hpp"
#include "engine/settings.hpp"

namespace mapi::engine
{
// `name` is for messages: every Error names file and line.  The registry tells which keys a driver has.
std::vector<DeviceSettings> read_config(std::istream &input, const std::string &name, const Registry &registry);

// What one section says, or, without a name, the lines before the first one: "key=value" a line; empty when it is not there.  Checks nothing.
std::string read_section(std::istream &input, const std::string &section);

// $MAPI_CONF, ./mapi.conf or /etc/mapi.conf, the first that is there; empty when none is.
std::string find_config();

// Whole, or not at all: throws Error, which names the file.
std::istringstream open_config(const std::string &path);
} // namespace mapi::engine
