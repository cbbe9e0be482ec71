// SPDX-License-Identifier: MIT
// Arguments: a variable argument list and the function's description -> owned arguments.
#pragma once

#include <cstdarg>

#include <mapi/function.h>

#include "engine/arguments.hpp"

namespace mapi::client
{
// The caller of a symbol cannot say how many there are: it gives the full list that MAPI 2 had.
constexpr int kCountUnknown = -1;

// Throws Error 7001 .. 7011 for the first argument that is missing or too many.
engine::Arguments read_arguments(const mapi_function &function, int count, va_list list);
} // namespace mapi::client
