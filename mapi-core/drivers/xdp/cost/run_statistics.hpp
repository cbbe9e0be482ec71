// SPDX-License-Identifier: MIT
// The kernel's statistics of a program: how often it has run, for how long; and its size.
#pragma once

#include <cstdint>

#include "drivers/xdp/kernel_object.hpp"

namespace mapi::drivers::xdp
{
// While it exists, the kernel measures the runs of all BPF programs of the system.
class RunStatistics
{
public:
    // Throws KernelRefusal.
    RunStatistics();

private:
    ipc::Descriptor enabled_;
};

struct ProgramFacts {
    uint64_t runs = 0; // while the kernel measured them
    uint64_t run_ns = 0;
    uint32_t instructions = 0;
    uint32_t code_bytes = 0;
};
// Throws KernelRefusal.
ProgramFacts facts_of(int program);
} // namespace mapi::drivers::xdp
