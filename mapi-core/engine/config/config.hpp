// SPDX-License-Identifier: MIT
// Configuration: mapi.conf -> settings of devices, and errors and warnings with their lines.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

#include "engine/config/config_file.hpp"
#include "engine/config/config_lines.hpp"
#include "engine/config/settings.hpp"
#include "engine/registry/registry.hpp"

namespace mapi::engine
{
struct Config {
    std::vector<DeviceSettings> devices;
    std::map<int, std::string> format_drivers; // for files that a program opens
    std::vector<ConfigNote> notes;

    // Throws the first of the errors.
    void require_no_error() const;
    std::vector<std::string> warnings() const;
};

// Checks all sections.  `name` is for messages.  The registry knows the keys of drivers and
// functions.
Config read_config(std::istream &input, const std::string &name, const Registry &registry);

// All sections of that name as lines "key=value"; empty if there are none.  Checks nothing.
std::string read_section(std::istream &input, const std::string &section);
} // namespace mapi::engine
