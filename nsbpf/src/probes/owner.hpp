// SPDX-License-Identifier: MIT
// Owner: which process drains the rings of a BPF program -> whether it still runs.
#pragma once

#include <cstdint>

namespace nsbpf
{
// This process.  Throws Refusal.
uint64_t own_owner();
// False only if it is certain that the process has ended.
bool is_running(uint64_t owner);
} // namespace nsbpf
