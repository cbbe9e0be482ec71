// SPDX-License-Identifier: MIT
// Function name: "FUNCTION", or MAPI 2's "LIBRARY:FUNCTION!DEVICE_TYPE" -> its parts.
#pragma once

#include <string>

namespace mapi::engine
{
struct FunctionName {
    std::string function;
    std::string library = {};     // empty: any
    std::string device_type = {}; // empty: any
};

FunctionName split_function_name(const std::string &text);

// The library name of libmapi's own functions.
constexpr const char *kOwnLibrary = "mapi";

// Whether this is a library of MAPI 2 that had such a function.
bool has_function(const std::string &old_library, const std::string &function);

// MAPI 2's types of devices are dotted numbers; true if its software functions served that type.
bool is_served_in_software(const std::string &device_type);
} // namespace mapi::engine
