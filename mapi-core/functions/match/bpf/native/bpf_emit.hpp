// SPDX-License-Identifier: MIT
// BPF instructions -> machine code that filters a batch; one file per processor.
#pragma once

#include <asmjit/core.h>

#include "match/bpf/bpf_step.hpp"

namespace mapi::match
{
// Emits uint64_t run(const mapi_packet *packets, uint64_t mask) into `code`, with the processor's
// standard calling convention.
void emit_filter(BpfSteps steps, asmjit::CodeHolder &code);
} // namespace mapi::match
