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
} // namespace mapi::functions
