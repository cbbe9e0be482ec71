// SPDX-License-Identifier: MIT
// Equality and bit tests are independent of byte order if their constant has the same one.
#include "bpf_byte_order.hpp"

#include <algorithm>

namespace mapi::match
{
namespace
{
enum class Use {
    kNone,    // does not use the accumulator
    kDefines, // overwrites it, or ends the program without it
    kBitwise, // treats each byte alike: the constant can be swapped instead
    kOther,
};

Use use_of(const bpf_insn &step, uint32_t value_bytes)
{
    const bool has_high_bits = value_bytes == 2 && step.k > 0xffff;
    switch (BPF_CLASS(step.code)) {
    case BPF_LD: return Use::kDefines;
    case BPF_LDX:
    case BPF_STX: return Use::kNone;
    case BPF_RET: return step.code == (BPF_RET | BPF_K) ? Use::kDefines : Use::kOther;
    case BPF_MISC: return step.code == (BPF_MISC | BPF_TXA) ? Use::kDefines : Use::kOther;
    case BPF_JMP:
        if (BPF_OP(step.code) == BPF_JA)
            return Use::kNone;
        if (step.code == (BPF_JMP | BPF_JSET | BPF_K))
            return Use::kBitwise;
        return step.code == (BPF_JMP | BPF_JEQ | BPF_K) && !has_high_bits ? Use::kBitwise
                                                                          : Use::kOther;
    case BPF_ALU:
        if (step.code == (BPF_ALU | BPF_AND | BPF_K))
            return Use::kBitwise;
        if (step.code == (BPF_ALU | BPF_OR | BPF_K) || step.code == (BPF_ALU | BPF_XOR | BPF_K))
            return has_high_bits ? Use::kOther : Use::kBitwise;
        return Use::kOther;
    default: return Use::kOther;
    }
}

// The steps that see the value of one load; `is_closed` is false if one of them needs it swapped.
struct Reach {
    std::vector<size_t> steps;
    bool is_closed = true;
};

Reach reach_of(BpfSteps steps, const std::vector<StepBounds> &bounds, size_t load)
{
    Reach reach;
    std::vector<size_t> pending{load + 1};
    while (!pending.empty() && reach.is_closed) {
        const size_t at = pending.back();
        pending.pop_back();
        const Use use = use_of(steps[at], load_bytes(steps[load].code));
        if (use == Use::kDefines || bounds[at].is_always_rejected() ||
            std::find(reach.steps.begin(), reach.steps.end(), at) != reach.steps.end())
            continue;
        reach.is_closed = use != Use::kOther;
        reach.steps.push_back(at);
        for (const size_t next : successors(steps, at))
            pending.push_back(next);
    }
    return reach;
}

using Predecessors = std::vector<std::vector<size_t>>;

Predecessors find_predecessors(BpfSteps steps, const std::vector<StepBounds> &bounds)
{
    Predecessors from(steps.size());
    for (size_t at = 0; at < steps.size(); ++at)
        if (bounds[at].is_reachable)
            for (const size_t next : successors(steps, at))
                from[next].push_back(at);
    return from;
}

bool is_entered_only_from(const Reach &reach, size_t load, const Predecessors &from)
{
    return std::all_of(reach.steps.begin(), reach.steps.end(), [&](size_t at) {
        return std::all_of(from[at].begin(), from[at].end(), [&](size_t before) {
            return before == load ||
                   std::find(reach.steps.begin(), reach.steps.end(), before) != reach.steps.end();
        });
    });
}
} // namespace

std::vector<uint8_t> find_unswapped(BpfSteps steps, const std::vector<StepBounds> &bounds)
{
    std::vector<uint8_t> unswapped(steps.size(), 0);
    const Predecessors from = find_predecessors(steps, bounds);
    for (size_t load = 0; load < steps.size(); ++load) {
        const uint16_t code = steps[load].code;
        if (!bounds[load].is_reachable || bounds[load].is_always_rejected() ||
            !is_packet_load(code) || load_bytes(code) == 1)
            continue;
        const Reach reach = reach_of(steps, bounds, load);
        // Step 0 is also entered from outside, with a swapped zero, which is the same.
        if (!reach.is_closed || !is_entered_only_from(reach, load, from))
            continue;
        unswapped[load] = uint8_t(load_bytes(code));
        for (const size_t at : reach.steps)
            unswapped[at] = unswapped[load];
    }
    return unswapped;
}
} // namespace mapi::match
