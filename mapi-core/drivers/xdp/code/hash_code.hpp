// SPDX-License-Identifier: MIT
// A packet -> the hash of its flow by which HASHSAMP samples, as eBPF.
#pragma once

#include <cstdint>

#include "drivers/xdp/code/program_code.hpp"
#include "match/bpf/native/ebpf_code.hpp"

namespace mapi::drivers::xdp
{
// What the function leaves in kFlowHash; smaller numbers: 1 + the part, of 1,024, that the flow is
// in.
enum FlowHash : int32_t { kNotHashed = 0, kNoFlow = 2000, kNotDecided = 2001 };

// Appends a function (context, this CPU's counts) that computes the hash and leaves it there, from
// `first_word` (enum HashWord).  It decides on ARP, and on TCP and UDP directly in IPv4 without
// options or IPv6, not in fragments: what the headers' other parts may hide is left to the engine.
void emit_flow_hash(uint32_t first_word, const ProgramSetup &setup, match::EbpfCode &code,
                    match::EbpfCode::Label function);
} // namespace mapi::drivers::xdp
