// SPDX-License-Identifier: MIT
// BPF instructions -> x86-64 machine code that filters a batch.
//
// One loop over the set bits of the mask; the program's body stands inside it.  Everything lives in
// registers that a callee may use freely, so there is no prologue; the scratch words are in the red
// zone.
#include "bpf_emit_x86.hpp"

#include <cstddef>
#include <vector>

#include <mapi/packet.h>

#include "bpf_bounds.hpp"
#include "bpf_byte_order.hpp"

namespace mapi::match
{
namespace
{
using namespace asmjit;

constexpr uint32_t kLargestDisplacement =
    0x7fffffff; // of an x86 address, and of a compare with a constant

const x86::Gp kPackets = x86::rdi;
const x86::Gp kMask = x86::rsi; // packets still to do
const x86::Gp kA = x86::eax;
const x86::Gp kX = x86::ecx; // upper half always zero; shifts want their count in cl
const x86::Gp kTemp = x86::rdx;
const x86::Gp kMatching = x86::r8;
const x86::Gp kIndex = x86::r9;
const x86::Gp kData = x86::r10;
const x86::Gp kCaplen = x86::r11;

x86::Mem scratch_word(uint32_t number)
{
    return x86::dword_ptr(x86::rsp, -4 * BPF_MEMWORDS + 4 * static_cast<int32_t>(number));
}

// Below the scratch words, still inside the 128 bytes that signal handlers leave alone.
x86::Mem spilled_constant()
{
    return x86::dword_ptr(x86::rsp, -4 * BPF_MEMWORDS - 4);
}

Imm constant(uint32_t value)
{
    return Imm(static_cast<int32_t>(value));
}

struct Condition {
    InstId jump_if_holds;
    InstId jump_if_fails;
    InstId set_if_holds;
    InstId set_if_fails;
};

Condition condition_of(uint16_t code)
{
    namespace Inst = x86::Inst;
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return {Inst::kIdJe, Inst::kIdJne, Inst::kIdSete, Inst::kIdSetne};
    case BPF_JGT:
        return {Inst::kIdJa, Inst::kIdJbe, Inst::kIdSeta, Inst::kIdSetbe};
    case BPF_JGE:
        return {Inst::kIdJae, Inst::kIdJb, Inst::kIdSetae, Inst::kIdSetb};
    default:
        return {Inst::kIdJnz, Inst::kIdJz, Inst::kIdSetnz, Inst::kIdSetz};
    }
}

class Emitter
{
public:
    Emitter(BpfSteps steps, x86::Assembler &assembler)
        : steps_(steps), as_(assembler), bounds_(find_bounds(steps)),
          unswapped_(find_unswapped(steps, bounds_))
    {
        for (size_t at = 0; at < steps.size(); ++at)
            labels_.push_back(as_.newLabel());
        accept_ = as_.newLabel();
        reject_ = as_.newLabel();
        loop_ = as_.newLabel();
        done_ = as_.newLabel();
    }

    void emit();

private:
    void emit_next_packet();
    void emit_step(size_t at);
    void emit_load(size_t at);
    void emit_packet_load(size_t at);
    void emit_store(const bpf_insn &step);
    void emit_alu(size_t at);
    void emit_divide(const bpf_insn &step);
    void emit_shift(const bpf_insn &step);
    void emit_jump(size_t at);
    void emit_decision(InstId set);
    void emit_return();

    void check_length(size_t at);
    void check_length_past_x(size_t at);
    void load_wire_bytes(const x86::Gp &to);
    void jump_to(size_t target, size_t next);

    bool is_reject(size_t at) const { return bounds_[at].is_always_rejected(); }
    bool is_accept(size_t at) const
    {
        return steps_[at].code == (BPF_RET | BPF_K) && steps_[at].k != 0;
    }
    Label label_of(size_t at) const
    {
        return is_reject(at) ? reject_ : is_accept(at) ? accept_ : labels_[at];
    }
    uint32_t constant_of(size_t at) const
    {
        return unswapped_[at] != 0 ? swapped_constant(steps_[at].k, unswapped_[at]) : steps_[at].k;
    }

    BpfSteps steps_;
    x86::Assembler &as_;
    std::vector<StepBounds> bounds_;
    std::vector<uint8_t> unswapped_;
    std::vector<Label> labels_;
    Label accept_;
    Label reject_;
    Label loop_;
    Label done_;
};

void Emitter::emit()
{
    as_.xor_(kMatching.r32(), kMatching.r32());
    if (!is_reject(0)) {
        as_.test(kMask, kMask);
        as_.jz(done_);
        as_.align(AlignMode::kCode, 16);
        as_.bind(loop_);
        emit_next_packet();
        for (size_t at = 0; at < steps_.size(); ++at)
            if (bounds_[at].is_reachable && !is_reject(at) && !is_accept(at))
                emit_step(at);
        as_.bind(accept_);
        as_.bts(kMatching, kIndex);
        as_.bind(reject_);
        as_.test(kMask, kMask);
        as_.jnz(loop_);
    }
    as_.bind(done_);
    as_.mov(x86::rax, kMatching);
    as_.ret();
}

void Emitter::emit_next_packet()
{
    static_assert(sizeof(mapi_packet) == 32);
    as_.tzcnt(kIndex,
              kMask); // runs as bsf where tzcnt is unknown: the same for a mask that is not zero
    as_.mov(kTemp, kIndex);
    as_.shl(kTemp, 5);
    as_.mov(kCaplen.r32(), x86::dword_ptr(kPackets, kTemp, 0, offsetof(mapi_packet, caplen)));
    as_.mov(kData, x86::qword_ptr(kPackets, kTemp, 0, offsetof(mapi_packet, data)));
    as_.lea(kTemp, x86::ptr(kMask, -1));
    as_.and_(kMask, kTemp);
    if (bounds_[0].needed_bytes > 0) {
        as_.cmp(kCaplen.r32(), constant(static_cast<uint32_t>(bounds_[0].needed_bytes)));
        as_.jb(reject_);
    }
    as_.xor_(kA, kA);
    as_.xor_(kX, kX);
    const uint16_t unwritten = find_unwritten_words(steps_);
    for (uint32_t word = 0; word < BPF_MEMWORDS; ++word)
        if (unwritten >> word & 1)
            as_.mov(scratch_word(word), kA);
    if (is_accept(0))
        as_.jmp(accept_);
}

void Emitter::emit_step(size_t at)
{
    const bpf_insn &step = steps_[at];
    as_.bind(labels_[at]);
    switch (BPF_CLASS(step.code)) {
    case BPF_LD:
    case BPF_LDX:
        emit_load(at);
        break;
    case BPF_ST:
    case BPF_STX:
        emit_store(step);
        break;
    case BPF_ALU:
        emit_alu(at);
        break;
    case BPF_JMP:
        emit_jump(at);
        return;
    case BPF_RET:
        emit_return();
        return;
    default:
        if (step.code == (BPF_MISC | BPF_TAX))
            as_.mov(kX, kA);
        else
            as_.mov(kA, kX);
    }
    if (is_reject(at + 1) || is_accept(at + 1))
        as_.jmp(label_of(at + 1));
}

void Emitter::emit_load(size_t at)
{
    const bpf_insn &step = steps_[at];
    const x86::Gp &target = BPF_CLASS(step.code) == BPF_LD ? kA : kX;
    switch (BPF_MODE(step.code)) {
    case BPF_IMM:
        as_.mov(target, constant(step.k));
        break;
    case BPF_MEM:
        as_.mov(target, scratch_word(step.k));
        break;
    case BPF_LEN:
        load_wire_bytes(target);
        break;
    case BPF_MSH:
        check_length(at);
        as_.movzx(kX, x86::byte_ptr(kData, static_cast<int32_t>(step.k)));
        as_.and_(kX, 0xf);
        as_.shl(kX, 2);
        break;
    default:
        emit_packet_load(at);
    }
}

void Emitter::emit_packet_load(size_t at)
{
    const bpf_insn &step = steps_[at];
    const auto displacement = static_cast<int32_t>(step.k);
    x86::Mem from = x86::ptr(kData, displacement);
    if (BPF_MODE(step.code) == BPF_IND) {
        check_length_past_x(at);
        from = x86::ptr(kData, kX.r64(), 0, displacement);
    } else {
        check_length(at);
    }
    from.setSize(load_bytes(step.code));
    if (load_bytes(step.code) == 4)
        as_.mov(kA, from);
    else
        as_.movzx(kA, from);
    if (unswapped_[at] != 0 || load_bytes(step.code) == 1)
        return;
    if (load_bytes(step.code) == 4)
        as_.bswap(kA);
    else
        as_.rol(kA.r16(), 8);
}

void Emitter::emit_store(const bpf_insn &step)
{
    as_.mov(scratch_word(step.k), BPF_CLASS(step.code) == BPF_ST ? kA : kX);
}

void Emitter::check_length(size_t at)
{
    if (!bounds_[at].wants_check())
        return;
    as_.cmp(kCaplen.r32(), constant(static_cast<uint32_t>(bounds_[at].needed_bytes)));
    as_.jb(reject_);
}

void Emitter::check_length_past_x(size_t at)
{
    if (!bounds_[at].wants_check_past_x())
        return;
    // In 64 bits, so that no X wraps round.
    as_.lea(kTemp, x86::ptr(kX.r64(), static_cast<int32_t>(bounds_[at].needed_past_x)));
    as_.cmp(kTemp, kCaplen);
    as_.ja(reject_);
}

void Emitter::load_wire_bytes(const x86::Gp &to)
{
    as_.mov(kTemp, kIndex);
    as_.shl(kTemp, 5);
    as_.mov(to, x86::dword_ptr(kPackets, kTemp, 0, offsetof(mapi_packet, wire_len)));
}

void Emitter::emit_alu(size_t at)
{
    const bpf_insn &step = steps_[at];
    const bool by_x = BPF_SRC(step.code) == BPF_X;
    const auto both = [&](InstId instruction) {
        if (by_x)
            as_.emit(instruction, kA, kX);
        else
            as_.emit(instruction, kA, constant(constant_of(at)));
    };
    switch (BPF_OP(step.code)) {
    case BPF_ADD:
        return void(both(x86::Inst::kIdAdd));
    case BPF_SUB:
        return void(both(x86::Inst::kIdSub));
    case BPF_AND:
        return void(both(x86::Inst::kIdAnd));
    case BPF_OR:
        return void(both(x86::Inst::kIdOr));
    case BPF_XOR:
        return void(both(x86::Inst::kIdXor));
    case BPF_NEG:
        return void(as_.neg(kA));
    case BPF_DIV:
    case BPF_MOD:
        return emit_divide(step);
    case BPF_LSH:
    case BPF_RSH:
        return emit_shift(step);
    default:
        if (by_x)
            as_.imul(kA, kX);
        else
            as_.imul(kA, kA, constant(step.k));
    }
}

void Emitter::emit_divide(const bpf_insn &step)
{
    if (BPF_SRC(step.code) == BPF_X) {
        as_.test(kX, kX);
        as_.jz(reject_);
        as_.xor_(kTemp.r32(), kTemp.r32());
        as_.div(kX);
    } else {
        as_.mov(spilled_constant(), constant(step.k));
        as_.xor_(kTemp.r32(), kTemp.r32());
        as_.div(spilled_constant());
    }
    if (BPF_OP(step.code) == BPF_MOD)
        as_.mov(kA, kTemp.r32());
}

void Emitter::emit_shift(const bpf_insn &step)
{
    const InstId shift = BPF_OP(step.code) == BPF_LSH ? x86::Inst::kIdShl : x86::Inst::kIdShr;
    if (BPF_SRC(step.code) == BPF_K) {
        as_.emit(shift, kA, Imm(step.k));
        return;
    }
    as_.emit(shift, kA, x86::cl); // by X modulo 32; from 32 up the result is zero
    as_.xor_(kTemp.r32(), kTemp.r32());
    as_.cmp(kX, 32);
    as_.cmovae(kA, kTemp.r32());
}

void Emitter::jump_to(size_t target, size_t next)
{
    if (target != next || is_reject(target) || is_accept(target))
        as_.jmp(label_of(target));
}

void Emitter::emit_jump(size_t at)
{
    const bpf_insn &step = steps_[at];
    const Successors to = successors(steps_, at);
    if (to.count == 1 || label_of(to.index[0]) == label_of(to.index[1]))
        return jump_to(to.index[0], at + 1);

    const Condition condition = condition_of(step.code);
    const bool decides = is_accept(to.index[0]) ? is_reject(to.index[1])
                                                : is_reject(to.index[0]) && is_accept(to.index[1]);
    if (decides)
        as_.xor_(kTemp.r32(), kTemp.r32());
    const InstId compare = BPF_OP(step.code) == BPF_JSET ? x86::Inst::kIdTest : x86::Inst::kIdCmp;
    if (BPF_SRC(step.code) == BPF_X)
        as_.emit(compare, kA, kX);
    else
        as_.emit(compare, kA, constant(constant_of(at)));
    if (decides)
        return emit_decision(is_accept(to.index[0]) ? condition.set_if_holds
                                                    : condition.set_if_fails);
    if (to.index[0] == at + 1 && !is_reject(at + 1) && !is_accept(at + 1)) {
        as_.emit(condition.jump_if_fails, label_of(to.index[1]));
        return;
    }
    as_.emit(condition.jump_if_holds, label_of(to.index[0]));
    jump_to(to.index[1], at + 1);
}

// The last test of a filter is the one that no predictor learns: its outcome becomes a bit without
// a branch.
void Emitter::emit_decision(InstId set)
{
    as_.emit(set, kTemp.r8());
    as_.mov(kX, kIndex.r32()); // X is not needed any more
    as_.shl(kTemp, x86::cl);
    as_.or_(kMatching, kTemp);
    as_.test(kMask, kMask);
    as_.jnz(loop_);
    as_.jmp(done_);
}

void Emitter::emit_return()
{
    as_.test(kA, kA); // constants have become jumps: only RET A is left
    as_.jnz(accept_);
    as_.jmp(reject_);
}
} // namespace

bool can_emit_x86(BpfSteps steps) noexcept
{
    for (const bpf_insn &step : steps) {
        // Beyond the displacement lie libpcap's own extensions too (VLAN tag, protocol), as
        // negative offsets.
        if ((is_packet_load(step.code) || is_header_length_load(step.code)) &&
            step.k > kLargestDisplacement - 4)
            return false;
        // In C the result of such a shift is undefined; the interpreter's answer stays the
        // interpreter's.
        if ((step.code == (BPF_ALU | BPF_LSH | BPF_K) ||
             step.code == (BPF_ALU | BPF_RSH | BPF_K)) &&
            step.k >= 32)
            return false;
    }
    return true;
}

void emit_x86(BpfSteps steps, asmjit::x86::Assembler &assembler)
{
    Emitter(steps, assembler).emit();
}
} // namespace mapi::match
