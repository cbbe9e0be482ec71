// SPDX-License-Identifier: MIT
// interrupt: Ctrl-C -> a flag, looked at wherever the program waits.
#pragma once

namespace mapi_cost
{
struct Interrupted {};

void catch_interrupts();
bool was_interrupted();
// Throws Interrupted.
void stop_if_interrupted();
} // namespace mapi_cost
