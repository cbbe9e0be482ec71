// SPDX-License-Identifier: MIT
// BPF emitter: the part common to all processors: which steps become code, in which order, and
// where they go.
#include "bpf_emitter.hpp"

#include <algorithm>
#include <limits>

#include "bpf_byte_order.hpp"

namespace mapi::match
{
namespace
{
// No packet has that many bytes.
uint32_t saturated(uint64_t bytes)
{
    return uint32_t(std::min<uint64_t>(bytes, std::numeric_limits<uint32_t>::max()));
}
} // namespace

uint32_t BpfEmitter::needed_at_once() const
{
    return saturated(bounds_[0].needed_bytes);
}

BpfEmitter::BpfEmitter(BpfSteps steps, PastX past_x)
    : steps_(steps), bounds_(find_bounds(steps, past_x)), unswapped_(find_unswapped(steps, bounds_))
{
}

uint32_t BpfEmitter::constant_of(size_t at) const
{
    return unswapped_[at] != 0 ? swapped_constant(steps_[at].k, unswapped_[at]) : steps_[at].k;
}

void BpfEmitter::emit()
{
    emit_entry();
    if (!is_reject(0)) {
        emit_loop_begin();
        for (size_t at = 0; at < steps_.size(); ++at)
            if (bounds_[at].is_reachable && !is_reject(at) && !is_accept(at))
                emit_step(at);
        emit_bind(kAccept);
        emit_accept();
        emit_bind(kReject);
        emit_loop_end();
    }
    emit_bind(kDone);
    emit_exit();
}

void BpfEmitter::emit_step(size_t at)
{
    const bpf_insn &step = steps_[at];
    emit_bind(label_at(at));
    switch (BPF_CLASS(step.code)) {
    case BPF_LD:
    case BPF_LDX: emit_load(at); break;
    case BPF_ST:
    case BPF_STX:
        emit_scratch_store(step.k, BPF_CLASS(step.code) == BPF_ST ? Register::kA : Register::kX);
        break;
    case BPF_ALU: emit_alu(step, constant_of(at)); break;
    case BPF_JMP: emit_jump(at); return;
    case BPF_RET: // constants have become jumps: only RET A is left
        emit_return();
        return;
    default:
        if (step.code == (BPF_MISC | BPF_TAX))
            emit_move(Register::kX, Register::kA);
        else
            emit_move(Register::kA, Register::kX);
    }
    if (is_reject(at + 1) || is_accept(at + 1))
        emit_branch(label_of(at + 1));
}

void BpfEmitter::emit_load(size_t at)
{
    const bpf_insn &step = steps_[at];
    const StepBounds &bounds = bounds_[at];
    const Register target = BPF_CLASS(step.code) == BPF_LD ? Register::kA : Register::kX;
    switch (BPF_MODE(step.code)) {
    case BPF_IMM: return emit_constant(target, step.k);
    case BPF_MEM: return emit_scratch_load(target, step.k);
    case BPF_LEN: return emit_wire_bytes(target);
    case BPF_IND:
        if (bounds.wants_check_past_x())
            emit_check_past_x(saturated(bounds.needed_past_x));
        break;
    default:
        if (bounds.wants_check())
            emit_check(saturated(bounds.needed_bytes));
    }
    if (BPF_MODE(step.code) == BPF_MSH)
        emit_header_length(step.k);
    else
        emit_packet_load(step, unswapped_[at] == 0 && load_bytes(step.code) > 1);
}

void BpfEmitter::jump_to(size_t target, size_t next)
{
    if (target != next || is_reject(target) || is_accept(target))
        emit_branch(label_of(target));
}

void BpfEmitter::emit_jump(size_t at)
{
    const bpf_insn &step = steps_[at];
    const Successors to = successors(steps_, at);
    if (to.count == 1 || label_of(to.index[0]) == label_of(to.index[1]))
        return jump_to(to.index[0], at + 1);

    const bool decides = is_accept(to.index[0]) ? is_reject(to.index[1])
                                                : is_reject(to.index[0]) && is_accept(to.index[1]);
    if (decides)
        prepare_decision();
    emit_compare(step, constant_of(at));
    if (decides)
        return emit_decision(step, is_accept(to.index[0]));
    if (to.index[0] == at + 1 && !is_reject(at + 1) && !is_accept(at + 1))
        return emit_branch_if(step, false, label_of(to.index[1]));
    emit_branch_if(step, true, label_of(to.index[0]));
    jump_to(to.index[1], at + 1);
}
} // namespace mapi::match
