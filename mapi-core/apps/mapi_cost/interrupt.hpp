// SPDX-License-Identifier: MIT
// interrupt: Ctrl-C, checked wherever the program waits -> an exception.
#pragma once

#include "command/output.hpp"
#include "command/signals.h"

namespace mapi_cost
{
// Throws command::Interrupted.
inline void stop_if_interrupted()
{
    if (command_was_interrupted())
        throw command::Interrupted();
}
} // namespace mapi_cost
