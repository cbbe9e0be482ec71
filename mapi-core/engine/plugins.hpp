// SPDX-License-Identifier: MIT
// Plug-ins: shared objects that mapi.conf names -> tables beside the built-in ones.
#pragma once

#include <vector>

#include <mapi/plugin.h>

namespace mapi::engine
{
struct Plugins {
    std::vector<const mapi_function *> functions;
    std::vector<const mapi_driver *> drivers;
};

// Those under `libs` of the configuration, found along `libpath`; they stay loaded.  Throws Error that names the file.
Plugins load_plugins();
} // namespace mapi::engine
