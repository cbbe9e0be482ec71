// SPDX-License-Identifier: MIT
// Fuzz target: BPF instructions and a packet -> the filter's eBPF and libpcap's interpreter agree.
// Input: 0 if the kernel runs the eBPF, too, the number of instructions (2 bytes), bytes of the
// packet that were not captured (4 bytes), the instructions, the packet.  Whatever is not valid in
// an instruction is made valid; a valid program without loops stays as it is.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "match/bpf/bpf_program.hpp"
#include "match/errors.hpp"
#include "support/filter_code.hpp"
#include "support/kernel_filters.hpp"

namespace
{
using namespace mapi::match;
using mapi::drivers::xdp::KernelRefusal;
using Program = std::vector<bpf_insn>;

constexpr size_t kHeadBytes = 7;
constexpr size_t kInstructionsMax = 1000;
constexpr size_t kKernelBytesMin = 14;   // of a packet that the kernel runs a program on
constexpr size_t kKernelBytesMax = 3000; // in one piece

std::vector<uint16_t> all_codes()
{
    std::vector<uint16_t> codes;
    for (uint16_t code = 0; code <= UINT8_MAX; ++code)
        if (is_known_step({code, 0, 0, 0}))
            codes.push_back(code);
    return codes;
}

// `room`: instructions after this one, at least one.
void make_valid(bpf_insn &step, size_t room)
{
    static const std::vector<uint16_t> codes = all_codes();
    if (!is_known_step(step))
        step.code = codes[step.code % codes.size()];
    const auto inside = [&](auto target) { return decltype(target)(target % room); };
    const bool is_scratch = BPF_CLASS(step.code) == BPF_ST || BPF_CLASS(step.code) == BPF_STX ||
                            step.code == (BPF_LD | BPF_MEM) || step.code == (BPF_LDX | BPF_MEM);
    if (is_scratch)
        step.k %= BPF_MEMWORDS;
    // No program jumps back: it might loop forever.
    if (step.code == (BPF_JMP | BPF_JA))
        step.k = inside(step.k);
    if (is_conditional_jump(step.code)) {
        step.jt = inside(step.jt);
        step.jf = inside(step.jf);
    }
    if (BPF_CLASS(step.code) == BPF_ALU && BPF_SRC(step.code) == BPF_K) {
        if (BPF_OP(step.code) == BPF_LSH || BPF_OP(step.code) == BPF_RSH)
            step.k %= 32;
        if ((BPF_OP(step.code) == BPF_DIV || BPF_OP(step.code) == BPF_MOD) && step.k == 0)
            step.k = 1;
    }
}

Program make_program(const uint8_t *bytes, size_t count)
{
    Program program(count);
    if (count != 0)
        memcpy(program.data(), bytes, count * sizeof(bpf_insn));
    if (count == 0 || !is_return(program.back().code) || !is_known_step(program.back()))
        program.push_back({BPF_RET | BPF_A, 0, 0, 0});
    for (size_t at = 0; at + 1 < program.size(); ++at)
        make_valid(program[at], program.size() - 1 - at);
    return program;
}

bool interpret(const Program &program, const mapi_packet &packet)
{
    // The interpreter's scratch words are uninitialised; those of eBPF are zero.
    Program whole;
    for (uint32_t word = 0; word < BPF_MEMWORDS; ++word)
        whole.push_back({BPF_ST, 0, 0, word});
    whole.insert(whole.end(), program.begin(), program.end());
    return bpf_filter(whole.data(), packet.data, packet.wire_len, packet.caplen) != 0;
}

// False if the process may not load programs.
bool check_in_kernel(const Program &program, EbpfBytes bytes, const mapi_packet &packet,
                     bool expected)
{
    try {
        test_support::KernelFilters kernel({program}, bytes);
        if ((kernel.run({packet.data, packet.caplen}, packet.wire_len)[0] != 0) != expected)
            abort();
    } catch (const KernelRefusal &refusal) {
        // A program may be too complex for the verifier: then the filter runs elsewhere.
        if (refusal.number() == EACCES || refusal.number() == EINVAL)
            throw;
        return refusal.number() != EPERM;
    }
    return true;
}

void check(const Program &program, const mapi_packet &packet, bool is_in_kernel)
{
    static bool can_load = true;
    const bool expected = interpret(program, packet);
    for (const EbpfBytes bytes : {EbpfBytes::kPacket, EbpfBytes::kBuffer}) {
        if (test_support::FilterCode(program, bytes).accepts(packet) != expected)
            abort();
        const bool fits = bytes == EbpfBytes::kBuffer ||
                          (packet.caplen >= kKernelBytesMin && packet.caplen <= kKernelBytesMax);
        if (is_in_kernel && fits && can_load)
            can_load = check_in_kernel(program, bytes, packet, expected);
    }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < kHeadBytes)
        return 0;
    uint16_t count;
    uint32_t missing;
    memcpy(&count, data + 1, sizeof(count));
    memcpy(&missing, data + 3, sizeof(missing));
    const size_t instructions =
        std::min({size_t(count), kInstructionsMax, (size - kHeadBytes) / sizeof(bpf_insn)});
    const uint8_t *const code = data + kHeadBytes;
    const std::vector<uint8_t> bytes(code + instructions * sizeof(bpf_insn), data + size);
    mapi_packet packet{};
    packet.data = bytes.data();
    packet.caplen = uint32_t(bytes.size());
    packet.wire_len = packet.caplen + missing;
    const Program program = make_program(code, instructions);
    if (!bpf_validate(program.data(), int(program.size())) || !can_emit_ebpf(program))
        abort(); // it is valid by construction
    check(program, packet, data[0] == 0);
    return 0;
}
