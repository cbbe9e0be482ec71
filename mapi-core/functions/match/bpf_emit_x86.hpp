// SPDX-License-Identifier: MIT
// BPF instructions -> x86-64 machine code that filters a batch.
#pragma once

#include <asmjit/x86.h>

#include "bpf_step.hpp"

namespace mapi::match
{
// False where the program holds something that only the interpreter does.
bool can_emit_x86(BpfSteps steps) noexcept;

// Appends uint64_t run(const mapi_packet *packets, uint64_t mask), System V calling convention.
void emit_x86(BpfSteps steps, asmjit::x86::Assembler &assembler);
} // namespace mapi::match
