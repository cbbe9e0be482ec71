// SPDX-License-Identifier: MIT
// BPF instructions -> arm64 machine code that filters a batch.
//
// Uses only caller-saved registers; scratch words are kept below the caller's stack frame.
#include "bpf_emit.hpp"

#include <asmjit/arm/a64assembler.h>
#include <asmjit/arm/a64utils.h>

#include <cstddef>

#include <mapi/packet.h>

#include "asmjit_labels.hpp"
#include "bpf_emitter.hpp"

namespace mapi::match
{
namespace
{
using namespace asmjit;
using arm::CondCode;

const a64::Gp kPackets = a64::x0;
const a64::Gp kMask = a64::x1; // remaining packets
const a64::Gp kA = a64::w2;
const a64::Gp kX = a64::w3; // upper half always zero, like any register written as w
const a64::Gp kTemp = a64::x4;
const a64::Gp kMatching = a64::x5;
const a64::Gp kIndex = a64::x6;
const a64::Gp kData = a64::x7;
const a64::Gp kCaplen = a64::w8;
const a64::Gp kConstant = a64::w9;
const a64::Gp kPacket = a64::x10;

constexpr uint32_t kScratchBytes = 4 * BPF_MEMWORDS;
static_assert(kScratchBytes % 16 == 0); // stack alignment

// The range of constants in add, sub and cmp.
bool is_arithmetic(uint32_t value)
{
    return value < 0x1000 || (value & 0xff000fff) == 0;
}

bool is_logical(uint32_t value)
{
    return a64::Utils::isLogicalImm(value, 32);
}

CondCode condition_of(const bpf_insn &step, bool holds)
{
    switch (BPF_OP(step.code)) {
    case BPF_JEQ: return holds ? CondCode::kEQ : CondCode::kNE;
    case BPF_JGT: return holds ? CondCode::kHI : CondCode::kLS;
    case BPF_JGE: return holds ? CondCode::kHS : CondCode::kLO;
    default: return holds ? CondCode::kNE : CondCode::kEQ;
    }
}

class Emitter : public BpfEmitter
{
public:
    Emitter(BpfSteps steps, a64::Assembler &assembler)
        : BpfEmitter(steps), as_(assembler), labels_(assembler, count_labels())
    {
        for (const bpf_insn &step : steps)
            has_scratch_ |= BPF_CLASS(step.code) == BPF_ST || BPF_CLASS(step.code) == BPF_STX ||
                            ((BPF_CLASS(step.code) == BPF_LD || BPF_CLASS(step.code) == BPF_LDX) &&
                             BPF_MODE(step.code) == BPF_MEM);
    }

private:
    void emit_bind(BpfLabel label) override { as_.bind(labels_[label]); }
    void emit_entry() override
    {
        if (has_scratch_)
            as_.sub(a64::sp, a64::sp, kScratchBytes);
        as_.mov(kMatching, 0);
    }
    void emit_loop_begin() override;
    void emit_accept() override
    {
        as_.mov(kTemp, 1);
        set_bit();
    }
    void emit_loop_end() override { as_.cbnz(kMask, labels_[kLoop]); }
    void emit_exit() override
    {
        if (has_scratch_)
            as_.add(a64::sp, a64::sp, kScratchBytes);
        as_.mov(a64::x0, kMatching);
        as_.ret(a64::x30);
    }

    void emit_constant(Register to, uint32_t value) override { as_.mov(of(to), Imm(value)); }
    void emit_move(Register to, Register from) override { as_.mov(of(to), of(from)); }
    void emit_scratch_load(Register to, uint32_t word) override
    {
        as_.ldr(of(to), scratch_word(word));
    }
    void emit_scratch_store(uint32_t word, Register from) override
    {
        as_.str(of(from), scratch_word(word));
    }
    void emit_wire_bytes(Register to) override
    {
        as_.ldr(of(to), a64::ptr(kPacket, offsetof(mapi_packet, wire_len)));
    }
    void emit_header_length(uint32_t offset) override
    {
        emit_bytes(kX, kData, offset, 1);
        as_.ubfiz(kX, kX, 2, 4);
    }
    void emit_packet_load(const bpf_insn &step, bool swaps) override;
    void emit_check(uint32_t bytes) override
    {
        compare(kCaplen, bytes);
        as_.b(CondCode::kLO, labels_[kReject]);
    }
    void emit_check_past_x(uint32_t bytes) override;

    void emit_alu(const bpf_insn &step, uint32_t constant) override;
    void emit_compare(const bpf_insn &step, uint32_t constant) override;
    void emit_branch_if(const bpf_insn &step, bool holds, BpfLabel to) override
    {
        as_.b(condition_of(step, holds), labels_[to]);
    }
    void emit_decision(const bpf_insn &step, bool holds) override
    {
        as_.cset(kTemp, Imm(condition_of(step, holds)));
        set_bit();
        as_.cbnz(kMask, labels_[kLoop]);
        as_.b(labels_[kDone]);
    }
    void emit_branch(BpfLabel to) override { as_.b(labels_[to]); }
    void emit_return() override
    {
        as_.cbnz(kA, labels_[kAccept]);
        as_.b(labels_[kReject]);
    }

    static const a64::Gp &of(Register name) { return name == Register::kA ? kA : kX; }
    static a64::Mem scratch_word(uint32_t number) { return a64::ptr(a64::sp, int32_t(4 * number)); }
    void emit_bytes(const a64::Gp &to, const a64::Gp &base, uint32_t offset, uint32_t bytes);
    void emit_divide(const bpf_insn &step);
    void emit_shift(const bpf_insn &step);
    void set_bit()
    {
        as_.lsl(kTemp, kTemp, kIndex);
        as_.orr(kMatching, kMatching, kTemp);
    }
    // Uses the constant itself if the instruction can encode it, else a register that holds it.
    void with_constant(InstId instruction, const a64::Gp &to, const a64::Gp &from, uint32_t value,
                       bool has_room)
    {
        if (has_room)
            return void(as_.emit(instruction, to, from, Imm(value)));
        as_.mov(kConstant, Imm(value));
        as_.emit(instruction, to, from, kConstant);
    }
    void compare(const a64::Gp &with, uint32_t value)
    {
        if (is_arithmetic(value))
            return void(as_.cmp(with, Imm(value)));
        as_.mov(kConstant, Imm(value));
        as_.cmp(with, kConstant);
    }

    a64::Assembler &as_;
    AsmjitLabels labels_;
    bool has_scratch_ = false;
};

void Emitter::emit_loop_begin()
{
    static_assert(sizeof(mapi_packet) == 32);
    as_.cbz(kMask, labels_[kDone]);
    as_.bind(labels_[kLoop]);
    as_.rbit(kIndex, kMask);
    as_.clz(kIndex, kIndex);
    as_.add(kPacket, kPackets, kIndex, arm::lsl(5));
    as_.ldr(kCaplen, a64::ptr(kPacket, offsetof(mapi_packet, caplen)));
    as_.ldr(kData, a64::ptr(kPacket, offsetof(mapi_packet, data)));
    as_.sub(kTemp, kMask, 1);
    as_.and_(kMask, kMask, kTemp);
    if (needed_at_once() > 0)
        emit_check(needed_at_once());
    as_.mov(kA, 0);
    as_.mov(kX, 0);
    const uint16_t unwritten = has_scratch_ ? find_unwritten_words(steps()) : 0;
    for (uint32_t word = 0; word < BPF_MEMWORDS; ++word)
        if (unwritten >> word & 1)
            as_.str(kA, scratch_word(word));
    if (is_accept_at_once())
        as_.b(labels_[kAccept]);
}

// The instruction encodes an offset if it is a multiple of the size or below 256; others need a
// register.
void Emitter::emit_bytes(const a64::Gp &to, const a64::Gp &base, uint32_t offset, uint32_t bytes)
{
    using Inst = a64::Inst;
    const InstId load = bytes == 4 ? Inst::kIdLdr : bytes == 2 ? Inst::kIdLdrh : Inst::kIdLdrb;
    const InstId unscaled = bytes == 4   ? Inst::kIdLdur
                            : bytes == 2 ? Inst::kIdLdurh
                                         : Inst::kIdLdurb;
    if (offset % bytes == 0 && offset / bytes < 0x1000)
        return void(as_.emit(load, to, a64::ptr(base, int32_t(offset))));
    if (offset < 0x100)
        return void(as_.emit(unscaled, to, a64::ptr(base, int32_t(offset))));
    as_.mov(kConstant, Imm(offset));
    as_.emit(load, to, a64::ptr(base, kConstant.x()));
}

void Emitter::emit_packet_load(const bpf_insn &step, bool swaps)
{
    const bool is_past_x = BPF_MODE(step.code) == BPF_IND;
    if (is_past_x)
        as_.add(kTemp, kData, kX.x());
    emit_bytes(kA, is_past_x ? kTemp : kData, step.k, load_bytes(step.code));
    if (!swaps)
        return;
    if (load_bytes(step.code) == 4)
        as_.rev(kA, kA);
    else
        as_.rev16(kA, kA);
}

// In 64 bits, so that X cannot wrap around.
void Emitter::emit_check_past_x(uint32_t bytes)
{
    if (is_arithmetic(bytes)) {
        as_.add(kTemp, kX.x(), Imm(bytes));
    } else {
        as_.mov(kConstant, Imm(bytes));
        as_.add(kTemp, kX.x(), kConstant.x());
    }
    as_.cmp(kTemp, kCaplen.x());
    as_.b(CondCode::kHI, labels_[kReject]);
}

void Emitter::emit_alu(const bpf_insn &step, uint32_t constant)
{
    using Inst = a64::Inst;
    const auto both = [&](InstId instruction, bool has_room) {
        if (BPF_SRC(step.code) == BPF_X)
            as_.emit(instruction, kA, kA, kX);
        else
            with_constant(instruction, kA, kA, constant, has_room);
    };
    switch (BPF_OP(step.code)) {
    case BPF_ADD: return both(Inst::kIdAdd, is_arithmetic(constant));
    case BPF_SUB: return both(Inst::kIdSub, is_arithmetic(constant));
    case BPF_AND: return both(Inst::kIdAnd, is_logical(constant));
    case BPF_OR: return both(Inst::kIdOrr, is_logical(constant));
    case BPF_XOR: return both(Inst::kIdEor, is_logical(constant));
    case BPF_NEG: return void(as_.neg(kA, kA));
    case BPF_DIV:
    case BPF_MOD: return emit_divide(step);
    case BPF_LSH:
    case BPF_RSH: return emit_shift(step);
    default: return both(Inst::kIdMul, false);
    }
}

void Emitter::emit_divide(const bpf_insn &step)
{
    const bool by_x = BPF_SRC(step.code) == BPF_X;
    const a64::Gp by = by_x ? kX : kConstant;
    if (by_x)
        as_.cbz(kX, labels_[kReject]);
    else
        as_.mov(kConstant, Imm(step.k));
    if (BPF_OP(step.code) == BPF_DIV)
        return void(as_.udiv(kA, kA, by));
    as_.udiv(kTemp.w(), kA, by);
    as_.msub(kA, kTemp.w(), by, kA);
}

// By X modulo 32; for 32 and above the result is zero.
void Emitter::emit_shift(const bpf_insn &step)
{
    const bool is_left = BPF_OP(step.code) == BPF_LSH;
    if (BPF_SRC(step.code) == BPF_K) {
        if (step.k > 0)
            as_.emit(is_left ? a64::Inst::kIdLsl : a64::Inst::kIdLsr, kA, kA, Imm(step.k));
        return;
    }
    as_.emit(is_left ? a64::Inst::kIdLsl : a64::Inst::kIdLsr, kA, kA, kX);
    as_.cmp(kX, 32);
    as_.csel(kA, kA, a64::wzr, Imm(CondCode::kLO));
}

void Emitter::emit_compare(const bpf_insn &step, uint32_t constant)
{
    const bool by_x = BPF_SRC(step.code) == BPF_X;
    if (BPF_OP(step.code) != BPF_JSET)
        return by_x ? void(as_.cmp(kA, kX)) : compare(kA, constant);
    if (by_x) {
        as_.tst(kA, kX);
    } else if (is_logical(constant)) {
        as_.tst(kA, Imm(constant));
    } else {
        as_.mov(kConstant, Imm(constant));
        as_.tst(kA, kConstant);
    }
}
} // namespace

void emit_filter(BpfSteps steps, CodeHolder &code)
{
    a64::Assembler assembler(&code);
    Emitter(steps, assembler).emit();
}
} // namespace mapi::match
