// SPDX-License-Identifier: MIT
// Registry: name -> function table or driver table.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <mapi/driver.h>
#include <mapi/function.h>

#include "engine/config/plugins.hpp"

namespace mapi::engine
{
class Registry
{
public:
    // Tables stay the caller's; one of another ABI version, or with a name that is there already, is refused with Error.
    Registry(std::span<const mapi_function *const> functions, std::span<const mapi_driver *const> drivers, const Plugins &more = {});

    // All throw Error with the names that would do.  The name may be "LIBRARY:FUNCTION!DEVICE_TYPE".
    const mapi_function &function(const std::string &name) const;
    const mapi_function &function_at(int number) const;
    std::span<const mapi_function *const> functions() const { return functions_; }
    const mapi_driver &driver(const std::string &name) const;

    bool has_driver(const std::string &name) const;
    // The plug-ins that the tables are of.
    const Plugins &plugins() const { return plugins_; }

private:
    bool is_in(const std::string &library, const mapi_function &function) const;

    std::vector<const mapi_function *> functions_;
    std::vector<const mapi_driver *> drivers_;
    const Plugins plugins_;
};
} // namespace mapi::engine
