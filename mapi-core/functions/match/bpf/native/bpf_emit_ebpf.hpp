// SPDX-License-Identifier: MIT
// BPF instructions -> eBPF instructions for one packet in the kernel.
#pragma once

#include "ebpf_code.hpp"
#include "match/bpf/bpf_step.hpp"

namespace mapi::match
{
// Where the packet's bytes are, and therefore what the verifier has to see before a load.
enum class EbpfBytes {
    kPacket, // r7: first byte, r8: end; both are pointers into an XDP packet
    kBuffer, // r7: first byte, in a map's value of kEbpfBufferBytes; r8: number of bytes
};

constexpr uint32_t kEbpfPacketBytesMax = 65535; // of a packet that a program can look at
constexpr uint32_t kEbpfBufferBytes = 2 * 65536;

// In the stack frame, from its end (r10): the packet's wire length, a 32-bit number, which the
// caller has stored, and below it the scratch words.
constexpr int16_t kEbpfWireBytes = -8;
constexpr int16_t kEbpfScratch = kEbpfWireBytes - 4 * BPF_MEMWORDS;
constexpr int16_t kEbpfFrameEnd = kEbpfScratch; // what is below is the caller's

struct EbpfPlaces {
    EbpfBytes bytes = EbpfBytes::kPacket;
    EbpfCode::Label accept;
    EbpfCode::Label reject;
};

// Whether every instruction can be written as eBPF.  A backward jump can; the verifier may refuse
// it.
bool can_emit_ebpf(BpfSteps steps);

// Appends code that ends at one of the two labels.  Changes r1 to r4; needs r7 and r8.  The result
// is that of bpf_filter() for packets of at most kEbpfPacketBytesMax bytes.
void emit_ebpf_filter(BpfSteps steps, EbpfCode &code, const EbpfPlaces &places);
} // namespace mapi::match
