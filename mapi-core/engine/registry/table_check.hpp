// SPDX-License-Identifier: MIT
// Table check: a function's or driver's table -> what is inconsistent in it.
#pragma once

#include <string>

#include <mapi/driver.h>
#include <mapi/function.h>

namespace mapi::engine
{
// Why the table cannot be used; empty if it can.  Its own size and ABI are already checked.
std::string find_mistake(const mapi_function &function);
std::string find_mistake(const mapi_driver &driver);
} // namespace mapi::engine
