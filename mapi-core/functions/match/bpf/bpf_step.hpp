// SPDX-License-Identifier: MIT
// One BPF instruction -> its kind, and the instructions that can follow it.
#pragma once

#include <pcap/pcap.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace mapi::match
{
using BpfSteps = std::span<const bpf_insn>;

// True for the instructions that bpf_filter() runs.  bpf_validate() accepts a few more, on which
// bpf_filter() aborts.
bool is_known_step(const bpf_insn &step) noexcept;

constexpr bool is_packet_load(uint16_t code)
{
    return BPF_CLASS(code) == BPF_LD && (BPF_MODE(code) == BPF_ABS || BPF_MODE(code) == BPF_IND);
}

constexpr bool is_header_length_load(uint16_t code)
{
    return code == (BPF_LDX | BPF_MSH | BPF_B);
}

constexpr bool writes_x(uint16_t code)
{
    return BPF_CLASS(code) == BPF_LDX || code == (BPF_MISC | BPF_TAX);
}

constexpr bool is_return(uint16_t code)
{
    return BPF_CLASS(code) == BPF_RET;
}

constexpr bool is_jump(uint16_t code)
{
    return BPF_CLASS(code) == BPF_JMP;
}

constexpr bool is_conditional_jump(uint16_t code)
{
    return is_jump(code) && BPF_OP(code) != BPF_JA;
}

constexpr uint32_t load_bytes(uint16_t code)
{
    return BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
}

// The successors of a step: the first `count` entries are valid; a return has none.
struct Successors {
    size_t index[2];
    int count;

    const size_t *begin() const noexcept { return index; }
    const size_t *end() const noexcept { return index + count; }
};

// The program has passed bpf_validate(), so every index is within bounds.
inline Successors successors(BpfSteps steps, size_t at) noexcept
{
    const bpf_insn &step = steps[at];
    if (is_return(step.code))
        return {{0, 0}, 0};
    if (is_conditional_jump(step.code))
        return {{at + 1 + step.jt, at + 1 + step.jf}, 2};
    if (is_jump(step.code)) // signed: "protochain" loops jump backwards
        return {{at + 1 + size_t(int64_t(int32_t(step.k))), 0}, 1};
    return {{at + 1, 0}, 1};
}
} // namespace mapi::match
