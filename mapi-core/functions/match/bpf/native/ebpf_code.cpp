// SPDX-License-Identifier: MIT
// eBPF instructions and their labels -> a program with resolved jumps.
#include "ebpf_code.hpp"

#include <limits>

#include "match/errors.hpp"

namespace mapi::match
{
namespace
{
// Classes and modes of the instruction set.
constexpr uint8_t kLoadConstant = 0x18; // BPF_LD | BPF_DW | BPF_IMM, two instructions
constexpr uint8_t kLoad = 0x61;         // BPF_LDX | BPF_MEM, without a size
constexpr uint8_t kStoreConstant = 0x62;
constexpr uint8_t kStore = 0x63;
constexpr uint8_t kAtomic = 0xdb; // BPF_STX | BPF_ATOMIC | BPF_DW
constexpr int32_t kFetchAdd = 0x01;
constexpr int32_t kExchange = 0xe1;
constexpr int32_t kCompareExchange = 0xf1;
constexpr uint8_t kJump = 0x05;
constexpr uint8_t kCall = 0x85;
constexpr uint8_t kExit = 0x95;
constexpr uint8_t kBigEndian = 0xdc;
constexpr uint8_t kFromRegister = 0x08;
constexpr uint8_t kOwnFunction = 1;     // BPF_PSEUDO_CALL
constexpr uint8_t kFunctionAddress = 4; // BPF_PSEUDO_FUNC
constexpr uint8_t kMapDescriptor = 1;   // BPF_PSEUDO_MAP_FD
constexpr uint8_t kMapValue = 2;        // BPF_PSEUDO_MAP_VALUE
constexpr uint8_t kNumber = 0;

uint8_t alu_class(EbpfWidth width)
{
    return width == EbpfWidth::k64 ? 0x07 : 0x04;
}

uint8_t jump_class(EbpfWidth width)
{
    return width == EbpfWidth::k64 ? 0x05 : 0x06;
}

uint8_t size_bits(uint32_t bytes)
{
    return bytes == 8 ? 0x18 : bytes == 4 ? 0x00 : bytes == 2 ? 0x08 : 0x10;
}
} // namespace

EbpfCode::Label EbpfCode::new_label()
{
    labels_.push_back(kUnbound);
    is_jumped_to_.push_back(false);
    return {labels_.size() - 1};
}

void EbpfCode::bind(Label label)
{
    is_reachable_ = is_reachable_ || is_jumped_to_[label.number];
    if (is_reachable_)
        labels_[label.number] = instructions_.size();
}

void EbpfCode::begin_function(Label label, EbpfLinkage linkage, uint32_t numbers)
{
    is_reachable_ = true;
    labels_[label.number] = instructions_.size();
    functions_.push_back({uint32_t(instructions_.size()), linkage, numbers});
}

void EbpfCode::emit(uint8_t code, uint8_t to, uint8_t from, int16_t offset, int32_t constant)
{
    if (is_reachable_)
        instructions_.push_back({code, uint8_t(from << 4 | to), offset, constant});
}

void EbpfCode::alu(EbpfWidth width, EbpfOperation operation, Register to, int32_t constant)
{
    emit(uint8_t(operation) | alu_class(width), uint8_t(to), 0, 0, constant);
}

void EbpfCode::alu(EbpfWidth width, EbpfOperation operation, Register to, Register from)
{
    emit(uint8_t(operation) | alu_class(width) | kFromRegister, uint8_t(to), uint8_t(from), 0, 0);
}

void EbpfCode::to_big_endian(Register to, int32_t bits)
{
    emit(kBigEndian, uint8_t(to), 0, 0, bits);
}

void EbpfCode::load(uint32_t bytes, Register to, Register base, int16_t offset)
{
    emit(kLoad | size_bits(bytes), uint8_t(to), uint8_t(base), offset, 0);
}

void EbpfCode::store(uint32_t bytes, Register base, int16_t offset, Register from)
{
    emit(kStore | size_bits(bytes), uint8_t(base), uint8_t(from), offset, 0);
}

void EbpfCode::store_constant(uint32_t bytes, Register base, int16_t offset, int32_t constant)
{
    emit(kStoreConstant | size_bits(bytes), uint8_t(base), 0, offset, constant);
}

void EbpfCode::jump(uint8_t code, Register left, uint8_t right, int32_t constant, Label to)
{
    if (!is_reachable_)
        return;
    is_jumped_to_[to.number] = true;
    jumps_.push_back({instructions_.size(), to.number});
    emit(code, uint8_t(left), right, 0, constant);
}

void EbpfCode::jump(Label to)
{
    jump(kJump, Register::r0, 0, 0, to);
    is_reachable_ = false;
}

void EbpfCode::jump_if(EbpfWidth width, EbpfCondition condition, Register left, int32_t constant,
                       Label to)
{
    jump(uint8_t(condition) | jump_class(width), left, 0, constant, to);
}

void EbpfCode::jump_if(EbpfWidth width, EbpfCondition condition, Register left, Register right,
                       Label to)
{
    jump(uint8_t(condition) | jump_class(width) | kFromRegister, left, uint8_t(right), 0, to);
}

void EbpfCode::call(EbpfHelper helper)
{
    emit(kCall, 0, 0, 0, int32_t(helper));
}

void EbpfCode::use(Label function)
{
    if (!is_reachable_)
        return;
    is_jumped_to_[function.number] = true;
    jumps_.push_back({instructions_.size(), function.number, true});
}

void EbpfCode::call_function(Label function)
{
    use(function);
    emit(kCall, 0, kOwnFunction, 0, 0);
}

void EbpfCode::function_address(Register to, Label function)
{
    use(function);
    wide_constant(to, kFunctionAddress, 0, 0);
}

void EbpfCode::fetch_add(Register base, int16_t offset, Register by)
{
    emit(kAtomic, uint8_t(base), uint8_t(by), offset, kFetchAdd);
}

void EbpfCode::exchange(Register base, int16_t offset, Register value)
{
    emit(kAtomic, uint8_t(base), uint8_t(value), offset, kExchange);
}

void EbpfCode::compare_exchange(Register base, int16_t offset, Register value)
{
    emit(kAtomic, uint8_t(base), uint8_t(value), offset, kCompareExchange);
}

void EbpfCode::wide_constant(Register to, uint8_t kind, int32_t low, int32_t high)
{
    emit(kLoadConstant, uint8_t(to), kind, 0, low);
    emit(0, 0, 0, 0, high);
}

void EbpfCode::map_value(Register to, int descriptor, uint32_t offset)
{
    wide_constant(to, kMapValue, descriptor, int32_t(offset));
}

void EbpfCode::map(Register to, int descriptor)
{
    wide_constant(to, kMapDescriptor, descriptor, 0);
}

void EbpfCode::constant(Register to, uint64_t value)
{
    wide_constant(to, kNumber, int32_t(uint32_t(value)), int32_t(uint32_t(value >> 32)));
}

void EbpfCode::exit()
{
    emit(kExit, 0, 0, 0, 0);
    is_reachable_ = false;
}

std::span<const EbpfInstruction> EbpfCode::finish()
{
    for (const Jump &jump : jumps_) {
        const size_t target = labels_[jump.label];
        if (target == kUnbound)
            throw FilterError("a jump of the filter leads to code that is not in the program");
        const int64_t distance = int64_t(target) - int64_t(jump.at) - 1;
        if (jump.is_far) {
            instructions_[jump.at].constant = int32_t(distance);
            continue;
        }
        if (distance < std::numeric_limits<int16_t>::min() ||
            distance > std::numeric_limits<int16_t>::max())
            throw FilterError("the filter is too long for the kernel: a jump over " +
                              std::to_string(distance) + " instructions");
        instructions_[jump.at].offset = int16_t(distance);
    }
    jumps_.clear();
    return instructions_;
}
} // namespace mapi::match
