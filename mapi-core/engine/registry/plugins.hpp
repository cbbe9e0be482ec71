// SPDX-License-Identifier: MIT
// Plug-ins: shared objects that mapi.conf names -> tables in addition to the built-in ones.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <mapi/plugin.h>

#include "engine/config/config_lines.hpp"

namespace mapi::engine
{
struct Plugins {
    std::vector<const mapi_function *> functions;
    std::vector<const mapi_driver *> drivers;
    std::map<const void *, std::string> origins; // of tables: file, line and path
    std::map<std::string, std::string>
        driver_of_file;          // plug-in as named by the key `driver` -> the name of its driver
    std::set<std::string> names; // as written, including those that could not be loaded
    std::map<const mapi_function *, std::string>
        libraries; // a function's plug-in: its file name without directory and ".so"
};

// Loads the plug-ins of the key `libs`, searched in `libpath`, and those that `driver` keys name,
// searched in `drvpath`; they stay loaded.  Errors go into notes; without notes the first one is
// thrown as Error.
Plugins load_plugins(std::vector<ConfigNote> *notes = nullptr);

// Whether the name is a plug-in to load, and not a library of MAPI 2 or the name of a driver.
bool is_plugin_library(const std::string &lib);
bool is_plugin_driver(const std::string &driver);
// Returns a name with a directory unchanged; empty if the plug-in is in none of the folders.
std::string find_plugin(const std::string &name, const std::string &folders);
} // namespace mapi::engine
