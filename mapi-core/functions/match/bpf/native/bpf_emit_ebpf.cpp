// SPDX-License-Identifier: MIT
// BPF instructions -> eBPF instructions for one packet in the kernel.
//
// The verifier must see that each load is within the packet.  It forgets what it knows about a
// pointer when a variable is added, so a load past X has a check of its own.
#include "bpf_emit_ebpf.hpp"

#include <algorithm>
#include <vector>

#include "bpf_emitter.hpp"

namespace mapi::match
{
namespace
{
using Register = EbpfRegister;
using Operation = EbpfOperation;
using Condition = EbpfCondition;
using Width = EbpfWidth;

constexpr Register kA = Register::r1; // upper half always zero, as after all 32-bit operations
constexpr Register kX = Register::r2;
constexpr Register kTemp = Register::r3;
constexpr Register kPastX = Register::r4;
constexpr Register kData = Register::r7;
constexpr Register kEnd = Register::r8;
constexpr Register kFrame = Register::r10;

Condition condition_of(uint16_t code)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ: return Condition::kEqual;
    case BPF_JGT: return Condition::kGreater;
    case BPF_JGE: return Condition::kGreaterOrEqual;
    default: return Condition::kAnyBit;
    }
}

Condition opposite(Condition condition)
{
    switch (condition) {
    case Condition::kEqual: return Condition::kNotEqual;
    case Condition::kGreater: return Condition::kLessOrEqual;
    default: return Condition::kLess;
    }
}

Operation operation_of(uint16_t code)
{
    switch (BPF_OP(code)) {
    case BPF_ADD: return Operation::kAdd;
    case BPF_SUB: return Operation::kSub;
    case BPF_MUL: return Operation::kMul;
    case BPF_DIV: return Operation::kDiv;
    case BPF_MOD: return Operation::kModulo;
    case BPF_AND: return Operation::kAnd;
    case BPF_OR: return Operation::kOr;
    case BPF_XOR: return Operation::kXor;
    case BPF_LSH: return Operation::kShiftLeft;
    case BPF_RSH: return Operation::kShiftRight;
    default: return Operation::kNegate;
    }
}

class Emitter : public BpfEmitter
{
public:
    Emitter(BpfSteps steps, EbpfCode &code, const EbpfPlaces &places)
        : BpfEmitter(steps, PastX::kProvesNothing), code_(code), places_(places)
    {
        while (labels_.size() < count_labels())
            labels_.push_back(code.new_label());
    }

private:
    void emit_bind(BpfLabel label) override { code_.bind(of(label)); }
    void emit_entry() override {}
    void emit_loop_begin() override;
    void emit_accept() override { code_.jump(places_.accept); }
    void emit_loop_end() override { code_.jump(places_.reject); }
    void emit_exit() override { code_.jump(places_.reject); }

    void emit_constant(BpfEmitter::Register to, uint32_t value) override { set(of(to), value); }
    void emit_move(BpfEmitter::Register to, BpfEmitter::Register from) override
    {
        code_.alu(Width::k32, Operation::kMove, of(to), of(from));
    }
    void emit_scratch_load(BpfEmitter::Register to, uint32_t word) override
    {
        code_.load(4, of(to), kFrame, scratch_word(word));
    }
    void emit_scratch_store(uint32_t word, BpfEmitter::Register from) override
    {
        code_.store(4, kFrame, scratch_word(word), of(from));
    }
    void emit_wire_bytes(BpfEmitter::Register to) override
    {
        // A number of its own: else what the filter finds out about it also holds for the word in
        // the frame, and the verifier follows the code after the filter once for each outcome.
        code_.load(4, of(to), kFrame, kEbpfWireBytes);
        code_.alu(Width::k32, Operation::kAnd, of(to), -1);
    }
    void emit_header_length(uint32_t offset) override;
    void emit_packet_load(const bpf_insn &step, bool swaps) override;
    void emit_check(uint32_t bytes) override;
    // emit_packet_load() checks.
    void emit_check_past_x(uint32_t) override {}

    void emit_alu(const bpf_insn &step, uint32_t constant) override;
    // eBPF compares where it branches.
    void emit_compare(const bpf_insn &, uint32_t constant) override { compared_ = constant; }
    void emit_branch_if(const bpf_insn &step, bool holds, BpfLabel to) override;
    void emit_decision(const bpf_insn &step, bool holds) override;
    void emit_branch(BpfLabel to) override { code_.jump(of(to)); }
    void emit_return() override;

    EbpfCode::Label of(BpfLabel label) const { return labels_[label.number]; }
    static EbpfRegister of(BpfEmitter::Register name)
    {
        return name == BpfEmitter::Register::kA ? kA : kX;
    }
    static int16_t scratch_word(uint32_t word) { return int16_t(kEbpfScratch + 4 * int(word)); }
    void set(EbpfRegister to, uint32_t value)
    {
        code_.alu(Width::k32, Operation::kMove, to, int32_t(value));
    }
    void reject_always();
    void jump_if(const bpf_insn &step, Condition condition, EbpfCode::Label to);
    void emit_shift(const bpf_insn &step);
    // Leaves the address of the byte at X in kPastX.
    void check_past_x(uint32_t bytes);

    EbpfCode &code_;
    const EbpfPlaces places_;
    std::vector<EbpfCode::Label> labels_;
    uint32_t compared_ = 0;
};

void Emitter::emit_loop_begin()
{
    if (needed_at_once() > 0)
        emit_check(needed_at_once());
    set(kA, 0);
    set(kX, 0);
    const uint16_t unwritten = find_unwritten_words(steps());
    for (uint32_t word = 0; word < BPF_MEMWORDS; ++word)
        if (unwritten >> word & 1)
            code_.store_constant(4, kFrame, scratch_word(word), 0);
    if (is_accept_at_once())
        code_.jump(of(kAccept));
}

// The verifier removes the code after it, which must be reachable for it nevertheless.
void Emitter::reject_always()
{
    set(kTemp, 1);
    code_.jump_if(Width::k64, Condition::kEqual, kTemp, 1, of(kReject));
}

void Emitter::emit_check(uint32_t bytes)
{
    if (bytes > kEbpfPacketBytesMax)
        return reject_always();
    if (places_.bytes == EbpfBytes::kBuffer)
        return code_.jump_if(Width::k64, Condition::kLess, kEnd, int32_t(bytes), of(kReject));
    code_.alu(Width::k64, Operation::kMove, kTemp, kData);
    code_.alu(Width::k64, Operation::kAdd, kTemp, int32_t(bytes));
    code_.jump_if(Width::k64, Condition::kGreater, kTemp, kEnd, of(kReject));
}

void Emitter::check_past_x(uint32_t bytes)
{
    code_.alu(Width::k64, Operation::kMove, kPastX, kX);
    code_.jump_if(Width::k64, Condition::kGreater, kPastX, int32_t(kEbpfPacketBytesMax - bytes),
                  of(kReject));
    if (places_.bytes == EbpfBytes::kPacket)
        code_.alu(Width::k64, Operation::kAdd, kPastX, kData);
    code_.alu(Width::k64, Operation::kMove, kTemp, kPastX);
    code_.alu(Width::k64, Operation::kAdd, kTemp, int32_t(bytes));
    code_.jump_if(Width::k64, Condition::kGreater, kTemp, kEnd, of(kReject));
    if (places_.bytes == EbpfBytes::kBuffer)
        code_.alu(Width::k64, Operation::kAdd, kPastX, kData);
}

void Emitter::emit_header_length(uint32_t offset)
{
    if (offset >= kEbpfPacketBytesMax)
        return; // not reached: the check before it rejected
    code_.alu(Width::k64, Operation::kMove, kTemp, kData);
    if (offset > 0)
        code_.alu(Width::k64, Operation::kAdd, kTemp, int32_t(offset));
    code_.load(1, kX, kTemp, 0);
    code_.alu(Width::k32, Operation::kAnd, kX, 0xf);
    code_.alu(Width::k32, Operation::kShiftLeft, kX, 2);
}

void Emitter::emit_packet_load(const bpf_insn &step, bool swaps)
{
    const uint32_t bytes = load_bytes(step.code);
    const bool is_past_x = BPF_MODE(step.code) == BPF_IND;
    if (uint64_t{step.k} + bytes > kEbpfPacketBytesMax)
        return is_past_x ? reject_always() : void();
    if (is_past_x)
        check_past_x(step.k + bytes);
    EbpfRegister base = is_past_x ? kPastX : kData;
    int16_t offset = int16_t(step.k);
    if (step.k > INT16_MAX) {
        code_.alu(Width::k64, Operation::kMove, kTemp, base);
        code_.alu(Width::k64, Operation::kAdd, kTemp, int32_t(step.k));
        base = kTemp;
        offset = 0;
    }
    code_.load(bytes, kA, base, offset);
    if (swaps)
        code_.to_big_endian(kA, int32_t(8 * bytes));
}

void Emitter::emit_alu(const bpf_insn &step, uint32_t constant)
{
    const Operation operation = operation_of(step.code);
    const bool is_shift = operation == Operation::kShiftLeft || operation == Operation::kShiftRight;
    const bool is_division = operation == Operation::kDiv || operation == Operation::kModulo;
    if (operation == Operation::kNegate)
        return code_.alu(Width::k32, operation, kA, 0);
    if (BPF_SRC(step.code) == BPF_K)
        return code_.alu(Width::k32, operation, kA, int32_t(constant));
    if (is_shift)
        return emit_shift(step);
    if (is_division) // eBPF continues after a division by zero
        code_.jump_if(Width::k32, Condition::kEqual, kX, 0, of(kReject));
    code_.alu(Width::k32, operation, kA, kX);
}

// The kernel shifts by X modulo 32; for 32 and above the result is zero.
void Emitter::emit_shift(const bpf_insn &step)
{
    const EbpfCode::Label fits = code_.new_label();
    code_.jump_if(Width::k32, Condition::kLess, kX, 32, fits);
    set(kA, 0);
    code_.bind(fits);
    code_.alu(Width::k32, operation_of(step.code), kA, kX);
}

void Emitter::jump_if(const bpf_insn &step, Condition condition, EbpfCode::Label to)
{
    if (BPF_SRC(step.code) == BPF_X)
        code_.jump_if(Width::k32, condition, kA, kX, to);
    else
        code_.jump_if(Width::k32, condition, kA, int32_t(compared_), to);
}

void Emitter::emit_branch_if(const bpf_insn &step, bool holds, BpfLabel to)
{
    const Condition condition = condition_of(step.code);
    if (holds)
        return jump_if(step, condition, of(to));
    if (condition != Condition::kAnyBit)
        return jump_if(step, opposite(condition), of(to));
    const EbpfCode::Label next = code_.new_label();
    jump_if(step, condition, next);
    code_.jump(of(to));
    code_.bind(next);
}

void Emitter::emit_decision(const bpf_insn &step, bool holds)
{
    emit_branch_if(step, holds, kAccept);
    code_.jump(of(kReject));
}

void Emitter::emit_return()
{
    code_.jump_if(Width::k32, Condition::kNotEqual, kA, 0, of(kAccept));
    code_.jump(of(kReject));
}
} // namespace

bool can_emit_ebpf(BpfSteps steps)
{
    return !steps.empty() && std::all_of(steps.begin(), steps.end(), [](const bpf_insn &step) {
        const bool is_shift =
            step.code == (BPF_ALU | BPF_LSH | BPF_K) || step.code == (BPF_ALU | BPF_RSH | BPF_K);
        return !is_shift || step.k < 32; // otherwise undefined in C, and so in the interpreter
    });
}

void emit_ebpf_filter(BpfSteps steps, EbpfCode &code, const EbpfPlaces &places)
{
    Emitter(steps, code, places).emit();
}
} // namespace mapi::match
