// SPDX-License-Identifier: MIT
// Arguments: a variable argument list and the function's description -> owned arguments.
#pragma once

#include <cstdarg>
#include <functional>

#include "client/backend.hpp"

namespace mapi::client
{
// The caller of a symbol cannot say how many there are: it gives the full list that MAPI 2 had.
constexpr int kCountUnknown = -1;

// A flow's function, whose result is taken whole or as one value; throws Error that tells what the flow lacks.
using FindTarget = std::function<engine::Target(int fd, int fid, bool is_whole)>;

using FindFlow = std::function<engine::FlowBegun(int fd)>;

// What arguments name.
struct Finders {
    FindTarget target;
    FindFlow flow;
};

// Throws Error 7001 .. 7011 for the first argument that is missing, too many or names nothing.
engine::Arguments read_arguments(const FunctionDescription &function, int count, va_list list, const Finders &find);
} // namespace mapi::client
