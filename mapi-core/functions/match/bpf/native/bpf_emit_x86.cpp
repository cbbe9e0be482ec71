// SPDX-License-Identifier: MIT
// BPF instructions -> x86-64 machine code that filters a batch.
//
// Uses only caller-saved registers, so there is no prologue; the scratch words are in the red zone.
#include "bpf_emit.hpp"

#include <asmjit/x86.h>

#include <cstddef>

#include <mapi/packet.h>

#include "asmjit_labels.hpp"
#include "bpf_emitter.hpp"

namespace mapi::match
{
namespace
{
using namespace asmjit;

const x86::Gp kPackets = x86::rdi;
const x86::Gp kMask = x86::rsi; // remaining packets
const x86::Gp kA = x86::eax;
const x86::Gp kX = x86::ecx; // upper half always zero; shifts need their count in cl
const x86::Gp kTemp = x86::rdx;
const x86::Gp kMatching = x86::r8;
const x86::Gp kIndex = x86::r9;
const x86::Gp kData = x86::r10;
const x86::Gp kCaplen = x86::r11;

x86::Mem scratch_word(uint32_t number)
{
    return x86::dword_ptr(x86::rsp, -4 * BPF_MEMWORDS + 4 * int32_t(number));
}

// Below the scratch words, still within the 128 bytes that signal handlers leave alone.
x86::Mem spilled_constant()
{
    return x86::dword_ptr(x86::rsp, -4 * BPF_MEMWORDS - 4);
}

Imm constant(uint32_t value)
{
    return Imm(int32_t(value));
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
    case BPF_JEQ: return {Inst::kIdJe, Inst::kIdJne, Inst::kIdSete, Inst::kIdSetne};
    case BPF_JGT: return {Inst::kIdJa, Inst::kIdJbe, Inst::kIdSeta, Inst::kIdSetbe};
    case BPF_JGE: return {Inst::kIdJae, Inst::kIdJb, Inst::kIdSetae, Inst::kIdSetb};
    default: return {Inst::kIdJnz, Inst::kIdJz, Inst::kIdSetnz, Inst::kIdSetz};
    }
}

class Emitter : public BpfEmitter
{
public:
    Emitter(BpfSteps steps, x86::Assembler &assembler)
        : BpfEmitter(steps), as_(assembler), labels_(assembler, count_labels())
    {
    }

private:
    void emit_bind(BpfLabel label) override { as_.bind(labels_[label]); }
    void emit_entry() override { as_.xor_(kMatching.r32(), kMatching.r32()); }
    void emit_loop_begin() override;
    void emit_accept() override { as_.bts(kMatching, kIndex); }
    void emit_loop_end() override
    {
        as_.test(kMask, kMask);
        as_.jnz(labels_[kLoop]);
    }
    void emit_exit() override
    {
        as_.mov(x86::rax, kMatching);
        as_.ret();
    }

    void emit_constant(Register to, uint32_t value) override { as_.mov(of(to), constant(value)); }
    void emit_move(Register to, Register from) override { as_.mov(of(to), of(from)); }
    void emit_scratch_load(Register to, uint32_t word) override
    {
        as_.mov(of(to), scratch_word(word));
    }
    void emit_scratch_store(uint32_t word, Register from) override
    {
        as_.mov(scratch_word(word), of(from));
    }
    void emit_wire_bytes(Register to) override;
    void emit_header_length(uint32_t offset) override;
    void emit_packet_load(const bpf_insn &step, bool swaps) override;
    void emit_check(uint32_t bytes) override;
    void emit_check_past_x(uint32_t bytes) override;

    void emit_alu(const bpf_insn &step, uint32_t k) override;
    void emit_compare(const bpf_insn &step, uint32_t k) override;
    void emit_branch_if(const bpf_insn &step, bool holds, BpfLabel to) override;
    void emit_decision(const bpf_insn &step, bool holds) override;
    void prepare_decision() override { as_.xor_(kTemp.r32(), kTemp.r32()); }
    void emit_branch(BpfLabel to) override { as_.jmp(labels_[to]); }
    void emit_return() override;

    static const x86::Gp &of(Register name) { return name == Register::kA ? kA : kX; }
    void emit_divide(const bpf_insn &step);
    void emit_shift(const bpf_insn &step);

    x86::Assembler &as_;
    AsmjitLabels labels_;
};

void Emitter::emit_loop_begin()
{
    static_assert(sizeof(mapi_packet) == 32);
    as_.test(kMask, kMask);
    as_.jz(labels_[kDone]);
    as_.align(AlignMode::kCode, 16);
    as_.bind(labels_[kLoop]);
    as_.tzcnt(kIndex,
              kMask); // runs as bsf without tzcnt: same result for a nonzero mask
    as_.mov(kTemp, kIndex);
    as_.shl(kTemp, 5);
    as_.mov(kCaplen.r32(), x86::dword_ptr(kPackets, kTemp, 0, offsetof(mapi_packet, caplen)));
    as_.mov(kData, x86::qword_ptr(kPackets, kTemp, 0, offsetof(mapi_packet, data)));
    as_.lea(kTemp, x86::ptr(kMask, -1));
    as_.and_(kMask, kTemp);
    if (needed_at_once() > 0)
        emit_check(needed_at_once());
    as_.xor_(kA, kA);
    as_.xor_(kX, kX);
    const uint16_t unwritten = find_unwritten_words(steps());
    for (uint32_t word = 0; word < BPF_MEMWORDS; ++word)
        if (unwritten >> word & 1)
            as_.mov(scratch_word(word), kA);
    if (is_accept_at_once())
        as_.jmp(labels_[kAccept]);
}

void Emitter::emit_header_length(uint32_t offset)
{
    as_.movzx(kX, x86::byte_ptr(kData, int32_t(offset)));
    as_.and_(kX, 0xf);
    as_.shl(kX, 2);
}

void Emitter::emit_packet_load(const bpf_insn &step, bool swaps)
{
    const auto displacement = int32_t(step.k);
    x86::Mem from = BPF_MODE(step.code) == BPF_IND ? x86::ptr(kData, kX.r64(), 0, displacement)
                                                   : x86::ptr(kData, displacement);
    from.setSize(load_bytes(step.code));
    if (load_bytes(step.code) == 4)
        as_.mov(kA, from);
    else
        as_.movzx(kA, from);
    if (!swaps)
        return;
    if (load_bytes(step.code) == 4)
        as_.bswap(kA);
    else
        as_.rol(kA.r16(), 8);
}

void Emitter::emit_check(uint32_t bytes)
{
    as_.cmp(kCaplen.r32(), constant(bytes));
    as_.jb(labels_[kReject]);
}

// In 64 bits, so that X cannot wrap around.
void Emitter::emit_check_past_x(uint32_t bytes)
{
    as_.lea(kTemp, x86::ptr(kX.r64(), int32_t(bytes)));
    as_.cmp(kTemp, kCaplen);
    as_.ja(labels_[kReject]);
}

void Emitter::emit_wire_bytes(Register to)
{
    as_.mov(kTemp, kIndex);
    as_.shl(kTemp, 5);
    as_.mov(of(to), x86::dword_ptr(kPackets, kTemp, 0, offsetof(mapi_packet, wire_len)));
}

void Emitter::emit_alu(const bpf_insn &step, uint32_t k)
{
    const bool by_x = BPF_SRC(step.code) == BPF_X;
    const auto both = [&](InstId instruction) {
        if (by_x)
            as_.emit(instruction, kA, kX);
        else
            as_.emit(instruction, kA, constant(k));
    };
    switch (BPF_OP(step.code)) {
    case BPF_ADD: return void(both(x86::Inst::kIdAdd));
    case BPF_SUB: return void(both(x86::Inst::kIdSub));
    case BPF_AND: return void(both(x86::Inst::kIdAnd));
    case BPF_OR: return void(both(x86::Inst::kIdOr));
    case BPF_XOR: return void(both(x86::Inst::kIdXor));
    case BPF_NEG: return void(as_.neg(kA));
    case BPF_DIV:
    case BPF_MOD: return emit_divide(step);
    case BPF_LSH:
    case BPF_RSH: return emit_shift(step);
    default:
        if (by_x)
            as_.imul(kA, kX);
        else
            as_.imul(kA, kA, constant(k));
    }
}

void Emitter::emit_divide(const bpf_insn &step)
{
    if (BPF_SRC(step.code) == BPF_X) {
        as_.test(kX, kX);
        as_.jz(labels_[kReject]);
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
    as_.emit(shift, kA, x86::cl); // by X modulo 32; for 32 and above the result is zero
    as_.xor_(kTemp.r32(), kTemp.r32());
    as_.cmp(kX, 32);
    as_.cmovae(kA, kTemp.r32());
}

void Emitter::emit_compare(const bpf_insn &step, uint32_t k)
{
    const InstId compare = BPF_OP(step.code) == BPF_JSET ? x86::Inst::kIdTest : x86::Inst::kIdCmp;
    if (BPF_SRC(step.code) == BPF_X)
        as_.emit(compare, kA, kX);
    else
        as_.emit(compare, kA, constant(k));
}

void Emitter::emit_branch_if(const bpf_insn &step, bool holds, BpfLabel to)
{
    const Condition condition = condition_of(step.code);
    as_.emit(holds ? condition.jump_if_holds : condition.jump_if_fails, labels_[to]);
}

void Emitter::emit_decision(const bpf_insn &step, bool holds)
{
    const Condition condition = condition_of(step.code);
    as_.emit(holds ? condition.set_if_holds : condition.set_if_fails, kTemp.r8());
    as_.mov(kX, kIndex.r32()); // X is no longer needed
    as_.shl(kTemp, x86::cl);
    as_.or_(kMatching, kTemp);
    emit_loop_end();
    as_.jmp(labels_[kDone]);
}

void Emitter::emit_return()
{
    as_.test(kA, kA);
    as_.jnz(labels_[kAccept]);
    as_.jmp(labels_[kReject]);
}
} // namespace

void emit_filter(BpfSteps steps, CodeHolder &code)
{
    x86::Assembler assembler(&code);
    Emitter(steps, assembler).emit();
}
} // namespace mapi::match
