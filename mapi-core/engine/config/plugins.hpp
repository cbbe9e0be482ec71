// SPDX-License-Identifier: MIT
// Plug-ins: shared objects that mapi.conf names -> tables beside the built-in ones.
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
    std::map<std::string, std::string> driver_of_file; // as `driver` names a plug-in -> the name of its driver
    std::set<std::string> names; // as they are written, those that could not be loaded, too
    std::map<const mapi_function *, std::string> libraries; // where a function is from: its file without folder and ".so"
};

// Those under `libs` of the configuration, found along `libpath`, and those that `driver` names, along `drvpath`; they stay loaded.
// What is wrong goes into notes; without notes the first such thing is thrown as Error.
Plugins load_plugins(std::vector<ConfigNote> *notes = nullptr);

// Whether it is one that is to be loaded: neither MAPI 2's nor a driver's name.
bool is_plugin_library(const std::string &lib);
bool is_plugin_driver(const std::string &driver);
// As it is where it has a folder; empty: it is in none of these.
std::string find_plugin(const std::string &name, const std::string &folders);
} // namespace mapi::engine
