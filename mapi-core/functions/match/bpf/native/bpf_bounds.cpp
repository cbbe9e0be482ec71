// SPDX-License-Identifier: MIT
// Two fixed points over the program: what acceptance needs (backwards), and what earlier checks
// prove (forwards).
#include "bpf_bounds.hpp"

#include <algorithm>

namespace mapi::match
{
namespace
{
constexpr uint64_t kAnyX = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kLongestHeaderBytes = 60; // 15 words, the maximum result of MSH

struct Needed {
    uint64_t bytes;
    uint64_t past_x;
};

Needed needed_at(BpfSteps steps, size_t at, const std::vector<StepBounds> &bounds)
{
    const bpf_insn &step = steps[at];
    if (is_return(step.code)) {
        const bool rejects = step.code == (BPF_RET | BPF_K) && step.k == 0;
        return rejects ? Needed{StepBounds::kNever, StepBounds::kNever} : Needed{0, 0};
    }
    Needed needed{StepBounds::kNever, StepBounds::kNever};
    for (const size_t next : successors(steps, at)) {
        needed.bytes = std::min(needed.bytes, bounds[next].needed_bytes);
        needed.past_x = std::min(needed.past_x, bounds[next].needed_past_x);
    }
    if (needed.bytes == StepBounds::kNever)
        return needed;
    if (writes_x(step.code))
        needed.past_x = 0; // refers to X after this step
    if (is_header_length_load(step.code))
        needed.bytes = std::max<uint64_t>(needed.bytes, uint64_t{step.k} + 1);
    if (is_packet_load(step.code)) {
        const uint64_t end = uint64_t{step.k} + load_bytes(step.code);
        needed.bytes = std::max(needed.bytes, end); // also for an indexed load: X is not negative
        if (BPF_MODE(step.code) == BPF_IND)
            needed.past_x = std::max(needed.past_x, end);
    }
    return needed;
}

void find_needed(BpfSteps steps, std::vector<StepBounds> &bounds)
{
    for (bool changed = true; changed;) { // a second round only for backward jumps
        changed = false;
        for (size_t at = steps.size(); at-- > 0;) {
            const Needed needed = needed_at(steps, at, bounds);
            changed |= needed.bytes != bounds[at].needed_bytes ||
                       needed.past_x != bounds[at].needed_past_x;
            bounds[at].needed_bytes = needed.bytes;
            bounds[at].needed_past_x = needed.past_x;
        }
    }
}

// What is proven after the step and the checks before it.
StepBounds after(const bpf_insn &step, StepBounds now, PastX past_x)
{
    if (is_header_length_load(step.code) || is_packet_load(step.code)) {
        if (BPF_MODE(step.code) == BPF_IND) {
            now.known_past_x = std::max(now.known_past_x, now.needed_past_x);
            if (past_x == PastX::kProvesBytes)
                now.known_bytes = std::max(now.known_bytes, now.needed_past_x);
        } else {
            now.known_bytes = std::max(now.known_bytes, now.needed_bytes);
        }
    }
    if (writes_x(step.code)) {
        now.known_past_x = 0;
        now.x_max = is_header_length_load(step.code)   ? kLongestHeaderBytes
                    : step.code == (BPF_LDX | BPF_IMM) ? step.k
                                                       : kAnyX;
    }
    return now;
}

bool merge(StepBounds &into, const StepBounds &from)
{
    const StepBounds before = into;
    into.known_bytes = std::min(into.known_bytes, from.known_bytes);
    into.known_past_x = std::min(into.known_past_x, from.known_past_x);
    into.x_max = std::max(into.x_max, from.x_max);
    into.is_reachable = true;
    return !before.is_reachable || before.known_bytes != into.known_bytes ||
           before.known_past_x != into.known_past_x || before.x_max != into.x_max;
}

void find_known(BpfSteps steps, PastX past_x, std::vector<StepBounds> &bounds)
{
    bounds[0].known_bytes = bounds[0].needed_bytes;
    bounds[0].known_past_x = 0;
    bounds[0].is_reachable = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t at = 0; at < steps.size(); ++at) {
            if (!bounds[at].is_reachable || bounds[at].is_always_rejected())
                continue;
            const StepBounds result = after(steps[at], bounds[at], past_x);
            for (const size_t next : successors(steps, at))
                changed |= merge(bounds[next], result) && next <= at;
        }
    }
}
} // namespace

std::vector<StepBounds> find_bounds(BpfSteps steps, PastX past_x)
{
    std::vector<StepBounds> bounds(steps.size());
    find_needed(steps, bounds);
    find_known(steps, past_x, bounds);
    return bounds;
}

uint16_t find_unwritten_words(BpfSteps steps)
{
    constexpr uint16_t kAll = 0xffff;
    static_assert(BPF_MEMWORDS == 16);
    std::vector<uint16_t> written(steps.size(), kAll); // on every path so far
    uint16_t unwritten = 0;
    written[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t at = 0; at < steps.size(); ++at) {
            const bpf_insn &step = steps[at];
            uint16_t now = written[at];
            if (BPF_CLASS(step.code) == BPF_ST || BPF_CLASS(step.code) == BPF_STX)
                now |= uint16_t(1u << step.k);
            for (const size_t next : successors(steps, at)) {
                const uint16_t met = written[next] & now;
                changed |= met != written[next] && next <= at;
                written[next] = met;
            }
        }
    }
    for (size_t at = 0; at < steps.size(); ++at) {
        const bpf_insn &step = steps[at];
        if ((step.code == (BPF_LD | BPF_MEM) || step.code == (BPF_LDX | BPF_MEM)) &&
            !(written[at] >> step.k & 1))
            unwritten |= uint16_t(1u << step.k);
    }
    return unwritten;
}
} // namespace mapi::match
