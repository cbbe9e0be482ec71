// SPDX-License-Identifier: MIT
// Configuration: mapi.conf -> settings of devices, and what is to be said of its lines.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

#include "engine/config/config_file.hpp"
#include "engine/config/config_lines.hpp"
#include "engine/config/registry.hpp"
#include "engine/config/settings.hpp"

namespace mapi::engine
{
struct Config {
    std::vector<DeviceSettings> devices;
    std::map<int, std::string> format_drivers; // of files that a program names
    std::vector<ConfigNote> notes;

    // Throws the first of the errors.
    void require_no_error() const;
    std::vector<std::string> warnings() const;
};

// All of it is checked, whoever it is for.  `name` is for messages.  The registry tells which keys drivers and functions have.
Config read_config(std::istream &input, const std::string &name, const Registry &registry);

// What the sections of a name say: "key=value" a line; empty when there are none.  Checks nothing.
std::string read_section(std::istream &input, const std::string &section);
} // namespace mapi::engine
