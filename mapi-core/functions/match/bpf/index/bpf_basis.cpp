// SPDX-License-Identifier: MIT
// Tracks which fields a register may hold, whatever the path.
#include "bpf_basis.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace mapi::match
{
namespace
{
// What a register may hold: one of these fields, or a constant.
struct Possible {
    std::set<PacketField> fields = {};
    bool is_other = false; // or anything else that was computed from the packet

    bool is_constant() const { return fields.empty() && !is_other; }
    // True if it has grown.
    bool merge(const Possible &from)
    {
        const size_t before = fields.size() + is_other;
        fields.insert(from.fields.begin(), from.fields.end());
        is_other |= from.is_other;
        return fields.size() + is_other != before;
    }
};

struct State {
    Possible a, x;
    std::array<Possible, BPF_MEMWORDS> words = {};

    bool merge(const State &from)
    {
        bool has_grown = a.merge(from.a);
        has_grown |= x.merge(from.x);
        for (size_t i = 0; i < words.size(); ++i)
            has_grown |= words[i].merge(from.words[i]);
        return has_grown;
    }
};

void calculate(const bpf_insn &step, State &now)
{
    const bool is_exact =
        now.a.is_constant() && (BPF_SRC(step.code) == BPF_K || now.x.is_constant());
    if (is_exact)
        return;
    if (step.code != (BPF_ALU | BPF_AND | BPF_K) || now.a.is_other) {
        now.a = {{}, true};
        return;
    }
    std::set<PacketField> masked;
    for (PacketField field : now.a.fields) {
        field.mask &= step.k;
        masked.insert(field);
    }
    now.a.fields = std::move(masked);
}

void run(const bpf_insn &step, const std::optional<BpfTests::Load> &load, State &now)
{
    const int mode = BPF_MODE(step.code);
    switch (BPF_CLASS(step.code)) {
    case BPF_LD:
        if (mode == BPF_MEM)
            now.a = now.words[step.k];
        else
            now.a = load ? Possible{{load->field}} : Possible{};
        break;
    case BPF_LDX:
        if (mode == BPF_MEM)
            now.x = now.words[step.k];
        else
            now.x = {{}, load.has_value()}; // a header's length, in bytes
        break;
    case BPF_ST: now.words[step.k] = now.a; break;
    case BPF_STX: now.words[step.k] = now.x; break;
    case BPF_ALU: calculate(step, now); break;
    case BPF_MISC:
        if (step.code == (BPF_MISC | BPF_TAX))
            now.x = now.a;
        else
            now.a = now.x;
        break;
    default: break;
    }
}

std::vector<std::optional<State>> find_states(BpfSteps steps, const BpfTests::Loads &loads)
{
    std::vector<std::optional<State>> before(steps.size());
    before[0].emplace();
    for (bool changed = true; changed;) { // a second round only for backward jumps
        changed = false;
        for (size_t at = 0; at < steps.size(); ++at) {
            if (!before[at])
                continue;
            State now = *before[at];
            run(steps[at], loads[at], now);
            for (const size_t next : successors(steps, at)) {
                const bool is_new = !before[next];
                if (is_new)
                    before[next].emplace();
                const bool has_grown = before[next]->merge(now);
                changed |= (is_new || has_grown) && next <= at;
            }
        }
    }
    return before;
}

// False: the decision depends on more than comparisons of fields.
bool add_decision(const bpf_insn &step, const State &now, BpfBasis &basis)
{
    if (step.code == (BPF_RET | BPF_A))
        return now.a.is_constant();
    if (!is_conditional_jump(step.code))
        return true;
    if (BPF_SRC(step.code) != BPF_K)
        return now.a.is_constant() && now.x.is_constant();
    for (const PacketField &field : now.a.fields)
        basis.comparisons.push_back({field, BPF_OP(step.code), step.k});
    return !now.a.is_other;
}
} // namespace

std::optional<BpfBasis> find_basis(BpfSteps program)
{
    const BpfTests analysed(program);
    if (!analysed.loads())
        return std::nullopt;
    BpfBasis basis;
    const auto states = find_states(program, *analysed.loads());
    for (size_t at = 0; at < program.size(); ++at) {
        if (!states[at])
            continue;
        if (!add_decision(program[at], *states[at], basis))
            return std::nullopt;
        if (const auto &load = analysed.loads()->at(at))
            basis.loads.push_back(*load);
    }
    return basis;
}
} // namespace mapi::match
