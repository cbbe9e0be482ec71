// SPDX-License-Identifier: MIT
// Automata -> functions that search a packet for all texts of a device at once.
#pragma once

#include <cstdint>
#include <vector>

#include "drivers/xdp/code/program_code.hpp"
#include "drivers/xdp/program_tree.hpp"
#include "match/bpf/native/ebpf_code.hpp"

namespace mapi::drivers::xdp
{
// Outputs of the automata that a search looks at: more often, some text ends with a byte and so do
// many others, as in a packet made to be slow.
constexpr int32_t kOutputsPerPacket = 4096;

// Appends a global function (context, number of the CPU) that searches the packet and sets the
// words of a search in the CPU's counts.
void emit_search(const ProgramTree &tree, const ProgramSetup &setup, match::EbpfCode &code,
                 match::EbpfCode::Label function);
} // namespace mapi::drivers::xdp
