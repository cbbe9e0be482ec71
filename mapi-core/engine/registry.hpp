// SPDX-License-Identifier: MIT
// Registry: name -> function table or driver table.
#pragma once

#include <span>
#include <string>

#include <mapi/driver.h>
#include <mapi/function.h>

namespace mapi::engine
{
class Registry
{
public:
    // Tables stay the caller's; one of another ABI version is refused with Error.
    Registry(std::span<const mapi_function *const> functions, std::span<const mapi_driver *const> drivers);

    // Both throw Error with the names that would do.
    const mapi_function &function(const std::string &name) const;
    const mapi_driver &driver(const std::string &name) const;

    bool has_driver(const std::string &name) const;

private:
    std::span<const mapi_function *const> functions_;
    std::span<const mapi_driver *const> drivers_;
};
} // namespace mapi::engine
