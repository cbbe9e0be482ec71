// SPDX-License-Identifier: MIT
// Arguments: given arguments and the function's description -> owned arguments.
#pragma once

#include <functional>

#include "client/backend.hpp"
#include "client/given_arguments.hpp"

namespace mapi::client
{
// A flow's function, whose result is used as a whole or as one value; throws Error if the flow
// lacks it.
using FindTarget = std::function<engine::Target(int fd, int fid, bool is_whole)>;

using FindFlow = std::function<engine::FlowBegun(int fd)>;

// Look up what arguments name.
struct Finders {
    FindTarget target;
    FindFlow flow;
};

// Throws Error 7001 .. 7011 for the first argument that is missing, extra, of another type, or
// names nothing.
engine::Arguments read_arguments(const FunctionDescription &function, GivenArguments &given,
                                 const Finders &find);
} // namespace mapi::client
