// SPDX-License-Identifier: MIT
// Plug-ins: shared objects that mapi.conf names -> tables beside the built-in ones.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <mapi/plugin.h>

namespace mapi::engine
{
struct Plugins {
    std::vector<const mapi_function *> functions;
    std::vector<const mapi_driver *> drivers;
    std::map<const mapi_function *, std::string> libraries = {}; // where a function is from: its file without folder and ".so"
};

// Those under `libs` of the configuration, found along `libpath`; they stay loaded.  Throws Error that names the file.
Plugins load_plugins();
} // namespace mapi::engine
