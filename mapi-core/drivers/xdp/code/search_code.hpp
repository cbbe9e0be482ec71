// SPDX-License-Identifier: MIT
// Automata -> functions that search a packet for all texts of a device at once.
#pragma once

#include <cstdint>
#include <vector>

#include "drivers/xdp/code/program_code.hpp"
#include "drivers/xdp/search_set.hpp"
#include "match/bpf/native/ebpf_code.hpp"

namespace mapi::drivers::xdp
{
// Outputs of the automata that a search looks at: more often, some text ends with a byte and so do
// many others, as in a packet made to be slow.
constexpr int32_t kOutputsPerPacket = 4096;

// Appends a function (context, this CPU's counts, number of the CPU) that searches the packet and
// sets the words above.
void emit_search(const SearchSet &searches, uint32_t first_word, const ProgramSetup &setup,
                 match::EbpfCode &code, match::EbpfCode::Label function);
} // namespace mapi::drivers::xdp
