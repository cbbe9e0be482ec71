// SPDX-License-Identifier: MIT
// What the parts of a program have in common when they are written.
#pragma once

#include <cstdint>

#include "drivers/xdp/code/packet_context.hpp"
#include "match/bpf/native/ebpf_code.hpp"

namespace mapi::drivers::xdp
{
class CodeWriter
{
protected:
    using Register = match::EbpfRegister;
    using Operation = match::EbpfOperation;
    using Condition = match::EbpfCondition;
    using Helper = match::EbpfHelper;
    using Label = match::EbpfCode::Label;
    static constexpr auto k32 = match::EbpfWidth::k32, k64 = match::EbpfWidth::k64;
    static constexpr Register kFrame = Register::r10;

    CodeWriter(Direction direction, match::EbpfCode &code)
        : direction_(direction), context_(context_of(direction)), code_(code)
    {
    }

    static int16_t word(uint32_t number) { return int16_t(8 * number); }
    void set(Register to, int32_t value) { code_.alu(k64, Operation::kMove, to, value); }
    void move(Register to, Register from) { code_.alu(k64, Operation::kMove, to, from); }
    void add(Register to, int32_t value) { code_.alu(k64, Operation::kAdd, to, value); }
    void add(Register to, Register value) { code_.alu(k64, Operation::kAdd, to, value); }

    // For a number of bytes that a helper gets, which must not be zero: before Linux 6.8 the
    // verifier does not conclude from a comparison with "equal" that it is at least 1.
    void jump_if_zero(Register number, Label to)
    {
        code_.jump_if(k64, Condition::kLess, number, 1, to);
    }
    void jump_unless_zero(Register number, Label to)
    {
        code_.jump_if(k64, Condition::kGreater, number, 0, to);
    }

    // A counter += 1, or += by; changes r1.
    void grow(Register base, uint32_t number, const Register *by = nullptr)
    {
        code_.load(8, Register::r1, base, word(number));
        if (by)
            add(Register::r1, *by);
        else
            add(Register::r1, 1);
        code_.store(8, base, word(number), Register::r1);
    }
    void limit(Register value, int32_t most)
    {
        const Label fits = code_.new_label();
        code_.jump_if(k64, Condition::kLessOrEqual, value, most, fits);
        set(value, most);
        code_.bind(fits);
    }
    // Sets bit number `bit` of the words at base + offset, whose number is a power of two.  Changes
    // `bit`, `place` and `mask`.
    void set_bit(Register base, int16_t offset, uint32_t words, Register bit, Register place,
                 Register mask)
    {
        move(place, bit);
        code_.alu(k64, Operation::kShiftRight, place, 6);
        code_.alu(k64, Operation::kAnd, place, int32_t(words - 1)); // for the verifier
        code_.alu(k64, Operation::kShiftLeft, place, 3);
        add(place, base);
        set(mask, 1);
        code_.alu(k64, Operation::kAnd, bit, 63);
        code_.alu(k64, Operation::kShiftLeft, mask, bit);
        code_.load(8, bit, place, offset);
        code_.alu(k64, Operation::kOr, bit, mask);
        code_.store(8, place, offset, bit);
    }
    // Leaves the address of the CPU's part of a map's value, of parts of stride_bytes each from
    // first_byte on; changes `cpu`.
    void own_part(Register to, int map, uint32_t stride_bytes, Register cpu,
                  uint32_t first_byte = 0)
    {
        code_.alu(k64, Operation::kMul, cpu, int32_t(stride_bytes));
        code_.map_value(to, map, first_byte);
        add(to, cpu);
    }
    void leave(int32_t result)
    {
        set(Register::r0, result);
        code_.exit();
    }

    const Direction direction_;
    const PacketContext context_;
    match::EbpfCode &code_;
};
} // namespace mapi::drivers::xdp
