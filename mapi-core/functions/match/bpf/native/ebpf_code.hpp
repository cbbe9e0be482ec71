// SPDX-License-Identifier: MIT
// A program for the kernel's eBPF, instruction by instruction, with labels.  Independent of
// <linux/bpf.h>, whose struct bpf_insn has the name of libpcap's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mapi::match
{
// As the kernel's struct bpf_insn, in this machine's byte order.
struct EbpfInstruction {
    uint8_t code;
    uint8_t registers; // destination in the lower half, source in the upper half
    int16_t offset;
    int32_t constant;
};
static_assert(sizeof(EbpfInstruction) == 8);

enum class EbpfRegister : uint8_t { r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10 };

enum class EbpfOperation : uint8_t { // the kernel's numbers (Documentation/bpf/standardization)
    kAdd = 0x00,
    kSub = 0x10,
    kMul = 0x20,
    kDiv = 0x30,
    kOr = 0x40,
    kAnd = 0x50,
    kShiftLeft = 0x60,
    kShiftRight = 0x70,
    kNegate = 0x80,
    kModulo = 0x90,
    kXor = 0xa0,
    kMove = 0xb0,
};

enum class EbpfCondition : uint8_t {
    kEqual = 0x10,
    kGreater = 0x20,
    kGreaterOrEqual = 0x30,
    kAnyBit = 0x40,
    kNotEqual = 0x50,
    kLess = 0xa0,
    kLessOrEqual = 0xb0,
};

enum class EbpfHelper : int32_t { // numbers of enum bpf_func_id
    kMapLookupElem = 1,
    kKtimeGetNs = 5,
    kGetPrandomU32 = 7,
    kGetSmpProcessorId = 8,
    kGetCurrentPidTgid = 14,
    kSkbLoadBytes = 26,
    kGetCurrentTaskBtf = 158,
    kLoop = 181,
    kXdpGetBuffLen = 188,
    kXdpLoadBytes = 189,
};

// Results of an XDP program, and where struct xdp_md has the ends of the packet.
enum EbpfXdp : int16_t { kXdpDrop = 1, kXdpPass = 2, kXdpData = 0, kXdpDataEnd = 4 };

// The same of a program for outgoing packets, and of struct __sk_buff, which also has their length.
enum EbpfSkb : int16_t { kTcxNext = -1, kSkbLength = 0, kSkbData = 76, kSkbDataEnd = 80 };

enum class EbpfWidth : uint8_t { k32, k64 };
enum class EbpfLinkage : uint8_t { kStatic, kGlobal };

// Code that no path reaches is left out: the kernel refuses programs that have some.  The main
// program is the first function.
class EbpfCode
{
public:
    using Register = EbpfRegister;

    struct Label {
        size_t number;
    };

    Label new_label();
    // A label is bound once.  Code after it is only emitted if something before it leads here.
    void bind(Label label);
    bool is_reachable() const { return is_reachable_; }
    // A function begins here, after the end of the one before: it gets up to five arguments in r1
    // to r5, returns in r0, keeps r6 to r9 of its caller, and has a stack frame of its own.  The
    // kernel refuses a function that no other uses.  It is verified again for each call; a global
    // one, which gets only the program's context and so many numbers, once.
    void begin_function(Label label, EbpfLinkage linkage = EbpfLinkage::kStatic,
                        uint32_t numbers = 1);
    // Whether some reachable code calls the function, or has its address.
    bool is_used(Label function) const { return is_jumped_to_[function.number]; }

    void alu(EbpfWidth width, EbpfOperation operation, Register to, int32_t constant);
    void alu(EbpfWidth width, EbpfOperation operation, Register to, Register from);
    // The lowest `bits` bits, 16 or 32, in the byte order of networks; the others become zero.
    void to_big_endian(Register to, int32_t bits);
    // `bytes` is 1, 2, 4 or 8.
    void load(uint32_t bytes, Register to, Register base, int16_t offset);
    void store(uint32_t bytes, Register base, int16_t offset, Register from);
    void store_constant(uint32_t bytes, Register base, int16_t offset, int32_t constant);
    void jump(Label to);
    void jump_if(EbpfWidth width, EbpfCondition condition, Register left, int32_t constant,
                 Label to);
    void jump_if(EbpfWidth width, EbpfCondition condition, Register left, Register right, Label to);
    void call(EbpfHelper helper);
    void call_function(Label function);
    // For kLoop, which calls it with the number of the round and one argument.
    void function_address(Register to, Label function);
    // Adds `by`, which gets the value before, in one step that other CPUs see after all stores
    // before it.
    void fetch_add(Register base, int16_t offset, Register by);
    // The same for a word that becomes `value`, which gets the value before.
    void exchange(Register base, int16_t offset, Register value);
    // The same, only if the value before is that in r0, which gets it.
    void compare_exchange(Register base, int16_t offset, Register value);
    // The address of a byte in the map's first value.
    void map_value(Register to, int descriptor, uint32_t offset);
    void map(Register to, int descriptor);
    void constant(Register to, uint64_t value);
    void exit();

    // Resolves all jumps.  Throws FilterError if one is too far, or its label is not reachable by
    // code before it.
    std::span<const EbpfInstruction> finish();
    std::span<const EbpfInstruction> instructions() const { return instructions_; }
    struct Function {
        uint32_t begin; // instruction
        EbpfLinkage linkage;
        uint32_t numbers; // that a global one gets
    };
    // The main program included.
    const std::vector<Function> &functions() const { return functions_; }

private:
    void emit(uint8_t code, uint8_t to, uint8_t from, int16_t offset, int32_t constant);
    void jump(uint8_t code, Register left, uint8_t right, int32_t constant, Label to);
    void use(Label function);
    void wide_constant(Register to, uint8_t kind, int32_t low, int32_t high);

    static constexpr size_t kUnbound = ~size_t{0};
    struct Jump {
        size_t at;
        size_t label;
        bool is_far = false; // its distance is in the constant
    };

    std::vector<EbpfInstruction> instructions_;
    std::vector<size_t> labels_;     // where each is bound
    std::vector<bool> is_jumped_to_; // for each label
    std::vector<Jump> jumps_;
    std::vector<Function> functions_ = {{0, EbpfLinkage::kGlobal, 0}};
    bool is_reachable_ = true;
};
} // namespace mapi::match
