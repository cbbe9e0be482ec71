// SPDX-License-Identifier: MIT
// A packet that functions of the engine need -> a record in the ring of its CPU and direction, as
// eBPF.
#pragma once

#include "drivers/xdp/code/program_code.hpp"
#include "drivers/xdp/program_tree.hpp"
#include "match/bpf/native/ebpf_code.hpp"

namespace mapi::drivers::xdp
{
// Appends a function (context, this CPU's counts, number of the CPU, wire length) that writes the
// record, or counts why it cannot.
void emit_record(const ProgramTree &tree, const ProgramSetup &setup, match::EbpfCode &code,
                 match::EbpfCode::Label function);
} // namespace mapi::drivers::xdp
