// SPDX-License-Identifier: MIT
// BPF instructions -> machine code that filters a batch; one file for each processor.
#pragma once

#include <asmjit/core.h>

#include "bpf_step.hpp"

namespace mapi::match
{
// Into `code`: uint64_t run(const mapi_packet *packets, uint64_t mask), by the processor's usual calling convention.
void emit_filter(BpfSteps steps, asmjit::CodeHolder &code);
} // namespace mapi::match
