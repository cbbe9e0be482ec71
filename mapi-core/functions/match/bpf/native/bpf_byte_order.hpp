// SPDX-License-Identifier: MIT
// A BPF program -> the loads whose value may stay in packet byte order, and the constants to swap
// instead.
#pragma once

#include <cstdint>
#include <vector>

#include "bpf_bounds.hpp"
#include "match/bpf/bpf_step.hpp"

namespace mapi::match
{
// Result per step: 0, or the size of the load (2 or 4 bytes).  At the load: do not swap.  At a
// later step: the accumulator is unswapped here, use swapped_constant().
std::vector<uint8_t> find_unswapped(BpfSteps steps, const std::vector<StepBounds> &bounds);

inline uint32_t swapped_constant(uint32_t constant, uint8_t bytes) noexcept
{
    return bytes == 2 ? __builtin_bswap16(uint16_t(constant)) : __builtin_bswap32(constant);
}
} // namespace mapi::match
