// SPDX-License-Identifier: MIT
// The code of nodes other than filters.
#pragma once

#include <cstdint>

#include <mapi/driver.h>

#include "match/bpf/native/ebpf_code.hpp"

namespace mapi::drivers::xdp
{
// Where a sample counts: a byte of a map's value, which all CPUs share.
struct SharedWord {
    int map;
    uint32_t byte_offset;
};

// Goes to `reject` with packets that do not pass.  Changes r0 to r5.  word: of a periodic sample.
void emit_sample(const mapi_offload_step &step, SharedWord word, match::EbpfCode &code,
                 match::EbpfCode::Label reject);

// Leaves the packet's time in r0: the clock is read once, and the time kept in the word of this
// CPU, which is 0 when the packet comes.  Changes r1 to r5.
void emit_packet_time(match::EbpfRegister counts, int16_t time_offset, match::EbpfCode &code);
} // namespace mapi::drivers::xdp
