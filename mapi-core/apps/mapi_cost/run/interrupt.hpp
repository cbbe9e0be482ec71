// SPDX-License-Identifier: MIT
// interrupt: Ctrl-C, checked wherever the program waits -> an exception.
#pragma once

#include "common/command/output.hpp"
#include "common/command/signals.h"

namespace mapi_cost
{
// Throws command::Interrupted.
inline void stop_if_interrupted()
{
    if (command_was_interrupted())
        throw command::Interrupted();
}
} // namespace mapi_cost
