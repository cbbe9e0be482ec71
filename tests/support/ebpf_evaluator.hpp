// SPDX-License-Identifier: MIT
// Runs eBPF instructions without the kernel, as far as code of filters uses them: no calls, no
// maps.  What the kernel's verifier would refuse on the path that is run is a fault: bytes outside
// of the packet or the stack frame, and registers or bytes of the frame that are read before they
// are written.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "match/bpf/native/ebpf_code.hpp"

namespace test_support
{
class EbpfFault : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

class EbpfEvaluator
{
public:
    using Instruction = mapi::match::EbpfInstruction;
    using Register = mapi::match::EbpfRegister;
    // Of the packet's first byte, as the program sees it; unlikely as any other value.
    static constexpr uint64_t kPacketAddress = 0x5eaf'0000'0000;

    EbpfEvaluator(std::span<const Instruction> code, std::span<const uint8_t> packet)
        : code_(code), packet_(packet)
    {
        set(Register::r10, kFrameEnd);
    }

    void set(Register name, uint64_t value) { registers_[size_t(name)] = value; }
    void set_frame_word(int16_t offset, uint32_t value)
    {
        store(4, kFrameEnd + uint64_t(offset), value);
    }

    // r0 when the program ends.  Throws EbpfFault.
    uint64_t run()
    {
        for (uint32_t count = 0; count < kStepsMax; ++count) {
            if (at_ >= code_.size())
                fault("there is no instruction");
            const Instruction &step = code_[at_];
            if (step.code == kExit)
                return read(0);
            run_step(step);
            ++at_;
        }
        fault("the program does not end");
    }

private:
    static constexpr uint64_t kFrameEnd = 0xf8a3'0000'0000;
    static constexpr size_t kFrameBytes = 512;
    static constexpr uint64_t kFrameStart = kFrameEnd - kFrameBytes;
    static constexpr uint32_t kStepsMax = 1'000'000;
    static constexpr uint8_t kExit = 0x95, kAlways = 0x05, kToBigEndian = 0xdc;
    enum Class : uint8_t { kLoad = 1, kStoreConstant, kStore, kAlu32, kJump64, kJump32, kAlu64 };

    [[noreturn]] void fault(const std::string &what) const
    {
        throw EbpfFault("instruction " + std::to_string(at_) + ": " + what);
    }

    uint64_t read(size_t name) const
    {
        if (name >= registers_.size() || !registers_[name])
            fault("register " + std::to_string(name) + " is read before it is written");
        return *registers_[name];
    }
    void write(size_t name, uint64_t value)
    {
        if (name >= size_t(Register::r10))
            fault("register " + std::to_string(name) + " cannot be written");
        registers_[name] = value;
    }

    uint64_t load(size_t bytes, uint64_t address) const
    {
        std::span<const uint8_t> from = packet_;
        uint64_t offset = address - kPacketAddress;
        if (address - kFrameStart < kFrameBytes) {
            from = frame_;
            offset = address - kFrameStart;
        }
        if (offset >= from.size() || from.size() - offset < bytes)
            fault("a load outside of the packet");
        uint64_t value = 0;
        for (size_t byte = offset + bytes; byte-- > offset;) {
            if (from.data() == frame_.data() && !is_written_[byte])
                fault("a byte of the frame is read before it is written");
            value = value << 8 | from[byte];
        }
        return value;
    }
    void store(size_t bytes, uint64_t address, uint64_t value)
    {
        const uint64_t in_frame = address - kFrameStart;
        if (in_frame >= kFrameBytes || kFrameBytes - in_frame < bytes)
            fault("a store outside of the frame");
        for (size_t byte = 0; byte < bytes; ++byte, value >>= 8) {
            frame_[in_frame + byte] = uint8_t(value);
            is_written_.set(in_frame + byte);
        }
    }

    void run_step(const Instruction &step)
    {
        static constexpr size_t kBytes[] = {4, 2, 1, 8};
        const size_t to = step.registers & 0xf, from = step.registers >> 4;
        const auto offset = uint64_t(int64_t{step.offset});
        const auto constant = uint64_t(int64_t{step.constant});
        const size_t bytes = kBytes[step.code >> 3 & 3];
        const auto kind = Class(step.code & 0x07);
        switch (kind) {
        case kLoad: return write(to, load(bytes, read(from) + offset));
        case kStoreConstant: return store(bytes, read(to) + offset, constant);
        case kStore: return store(bytes, read(to) + offset, read(from));
        default: break;
        }
        if (step.code == kToBigEndian)
            return write(to, big_endian(read(to), step.constant));
        if (step.code == kAlways) {
            at_ += offset;
            return;
        }
        const bool is_wide = kind == kAlu64 || kind == kJump64;
        const uint64_t mask = is_wide ? ~uint64_t{0} : 0xffffffff;
        const uint64_t right = mask & ((step.code & 0x08) != 0 ? read(from) : constant);
        const uint8_t operation = step.code & 0xf0;
        if (kind == kJump32 || kind == kJump64) {
            if (holds(operation, mask & read(to), right))
                at_ += offset;
        } else if (kind == kAlu32 || kind == kAlu64) {
            const bool is_move = operation == uint8_t(mapi::match::EbpfOperation::kMove);
            const uint64_t left = is_move ? 0 : mask & read(to);
            write(to, mask & result(operation, left, right, is_wide ? 63 : 31));
        } else {
            fault("an instruction that filters do not use");
        }
    }

    uint64_t big_endian(uint64_t value, int32_t bits) const
    {
        switch (bits) {
        case 16: return __builtin_bswap16(uint16_t(value));
        case 32: return __builtin_bswap32(uint32_t(value));
        default: fault("a byte order of " + std::to_string(bits) + " bits");
        }
    }

    bool holds(uint8_t condition, uint64_t left, uint64_t right) const
    {
        using Condition = mapi::match::EbpfCondition;
        switch (Condition(condition)) {
        case Condition::kEqual: return left == right;
        case Condition::kNotEqual: return left != right;
        case Condition::kGreater: return left > right;
        case Condition::kGreaterOrEqual: return left >= right;
        case Condition::kLess: return left < right;
        case Condition::kLessOrEqual: return left <= right;
        case Condition::kAnyBit: return (left & right) != 0;
        }
        fault("an unknown condition");
    }

    uint64_t result(uint8_t operation, uint64_t left, uint64_t right, uint64_t shift_mask) const
    {
        using Operation = mapi::match::EbpfOperation;
        switch (Operation(operation)) {
        case Operation::kAdd: return left + right;
        case Operation::kSub: return left - right;
        case Operation::kMul: return left * right;
        case Operation::kDiv: return right == 0 ? 0 : left / right;
        case Operation::kModulo: return right == 0 ? left : left % right;
        case Operation::kOr: return left | right;
        case Operation::kAnd: return left & right;
        case Operation::kXor: return left ^ right;
        case Operation::kShiftLeft: return left << (right & shift_mask);
        case Operation::kShiftRight: return left >> (right & shift_mask);
        case Operation::kNegate: return 0 - left;
        case Operation::kMove: return right;
        }
        fault("an unknown operation");
    }

    std::span<const Instruction> code_;
    std::span<const uint8_t> packet_;
    size_t at_ = 0;
    std::array<std::optional<uint64_t>, 11> registers_;
    std::array<uint8_t, kFrameBytes> frame_{};
    std::bitset<kFrameBytes> is_written_;
};
} // namespace test_support
