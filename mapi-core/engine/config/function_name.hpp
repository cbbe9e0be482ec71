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

// The library that libmapi's own functions are said to be of.
constexpr const char *kOwnLibrary = "mapi";

// Whether this is a library of MAPI 2, which had such a function.
bool has_function(const std::string &old_library, const std::string &function);

// MAPI 2's types of devices are dotted numbers; true: its functions in software serve that one.
bool is_served_in_software(const std::string &device_type);
} // namespace mapi::engine
