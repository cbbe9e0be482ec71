// SPDX-License-Identifier: MIT
// Registry: name -> function table or driver table.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <mapi/driver.h>
#include <mapi/function.h>

#include "engine/registry/plugins.hpp"

namespace mapi::engine
{
class Registry
{
public:
    // The caller keeps ownership of the tables; a table of another ABI version, or with a duplicate
    // name, is refused with Error.
    Registry(std::span<const mapi_function *const> functions,
             std::span<const mapi_driver *const> drivers, const Plugins &more = {});

    // All throw Error, which lists the available names.  The name may be
    // "LIBRARY:FUNCTION!DEVICE_TYPE".
    const mapi_function &function(const std::string &name) const;
    const mapi_function &function_at(int number) const;
    std::span<const mapi_function *const> functions() const { return functions_; }
    const mapi_driver &driver(const std::string &name) const;

    bool has_driver(const std::string &name) const;
    // The plug-ins of the tables.
    const Plugins &plugins() const { return plugins_; }

private:
    bool is_in(const std::string &library, const mapi_function &function) const;

    std::vector<const mapi_function *> functions_;
    std::vector<const mapi_driver *> drivers_;
    const Plugins plugins_;
};
} // namespace mapi::engine
