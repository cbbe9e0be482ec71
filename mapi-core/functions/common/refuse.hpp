// SPDX-License-Identifier: MIT
// Refuse: error number and text -> what a function's create() returns.
#pragma once

#include <string>

#include <mapi/errors.h>
#include <mapi/explain.h>
#include <mapi/function.h>

namespace mapi::functions
{
inline int refuse(const mapi_function_setup *setup, int number, const std::string &text)
{
    mapi_explain(setup->error, setup->error_bytes, text.c_str());
    return number;
}

// `range` is like "1 to 1000".
template <class Number>
int refuse_range(const mapi_function_setup *setup, int number, const std::string &what,
                 Number value, const std::string &range)
{
    return refuse(setup, number,
                  what + ": " + std::to_string(value) + " is out of range (" + range + ")");
}
} // namespace mapi::functions
