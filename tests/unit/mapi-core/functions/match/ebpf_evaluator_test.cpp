// SPDX-License-Identifier: MIT
// eBPF without the kernel: filters give the interpreter's answer, and what the verifier would
// refuse is a fault.
#include "support/ebpf_evaluator.hpp"

#include <functional>
#include <vector>

#include "random_programs.hpp"
#include "support/catch.hpp"
#include "support/filter_code.hpp"

namespace
{
using mapi::match::EbpfBytes;
using mapi::match::EbpfCode;
using mapi::match::EbpfOperation;
using mapi::match::EbpfWidth;
using match_test::GuardedPackets;
using test_support::EbpfEvaluator;
using test_support::EbpfFault;
using test_support::FilterCode;
using Register = mapi::match::EbpfRegister;

void compare_random_programs(EbpfBytes bytes)
{
    match_test::ProgramMaker random(24);
    GuardedPackets packets;
    constexpr size_t kPrograms = 2000;
    size_t accepted = 0;
    for (size_t round = 0; round < kPrograms; ++round) {
        if (round % 100 == 0)
            match_test::fill(packets, random);
        const std::vector<bpf_insn> program = random.make();
        if (!mapi::match::can_emit_ebpf(program))
            continue;
        const FilterCode code(program, bytes);
        uint64_t matching = 0;
        for (size_t at = 0; at < packets.count(); ++at)
            matching |= uint64_t{code.accepts(packets[at])} << at;
        REQUIRE(matching == match_test::interpret(program, packets, packets.all()));
        accepted += size_t(__builtin_popcountll(matching));
    }
    // The comparison is meaningful only if both answers are common.
    CHECK(accepted > kPrograms);
    CHECK(accepted < 60 * kPrograms);
}

// The result of code that ends with r0.
uint64_t run(const std::function<void(EbpfCode &)> &emit, size_t packet_bytes = 64)
{
    EbpfCode code;
    emit(code);
    code.exit();
    const std::vector<uint8_t> packet(packet_bytes, 0x11);
    EbpfEvaluator evaluator(code.finish(), packet);
    evaluator.set(Register::r7, EbpfEvaluator::kPacketAddress);
    evaluator.set_frame_word(-8, 0x01020304);
    return evaluator.run();
}

uint64_t load(uint32_t bytes, Register base, int16_t offset)
{
    return run([&](EbpfCode &code) { code.load(bytes, Register::r0, base, offset); });
}
} // namespace

TEST_CASE("random programs give the interpreter's answer as eBPF, without the kernel",
          "[mapi-core][match][ebpf]")
{
    for (const EbpfBytes bytes : {EbpfBytes::kPacket, EbpfBytes::kBuffer})
        compare_random_programs(bytes);
}

TEST_CASE("scratch words of eBPF that a filter reads first are zero", "[mapi-core][match][ebpf]")
{
    const std::vector<bpf_insn> program = {{BPF_LD | BPF_MEM, 0, 0, 15},
                                           {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0},
                                           {BPF_RET | BPF_K, 0, 0, 1},
                                           {BPF_RET | BPF_K, 0, 0, 0}};
    CHECK(FilterCode(program, EbpfBytes::kPacket).accepts({}));
}

TEST_CASE("eBPF that reads what is not there is a fault, not a value", "[mapi-core][match][ebpf]")
{
    CHECK(load(4, Register::r7, 60) == 0x11111111);
    CHECK_THROWS_AS(load(4, Register::r7, 61), EbpfFault);
    CHECK_THROWS_AS(load(1, Register::r7, -1), EbpfFault);
    CHECK_THROWS_AS(load(1, Register::r7, 64), EbpfFault);
    CHECK(load(4, Register::r10, -8) == 0x01020304);
    CHECK(load(1, Register::r10, -8) == 4);
    CHECK_THROWS_AS(load(4, Register::r10, -12), EbpfFault); // not written
    CHECK_THROWS_AS(load(8, Register::r10, -8), EbpfFault);  // half of it
    CHECK_THROWS_AS(load(8, Register::r10, -4), EbpfFault);  // beyond the end
    CHECK_THROWS_AS(load(4, Register::r3, 0), EbpfFault);    // not written
    CHECK_THROWS_AS(run([](EbpfCode &) {}), EbpfFault);      // r0 is the result
}

TEST_CASE("eBPF that writes where it must not is a fault", "[mapi-core][match][ebpf]")
{
    const auto store = [](Register base, int16_t offset) {
        return run([&](EbpfCode &code) {
            code.store_constant(4, base, offset, 1);
            code.load(4, Register::r0, base, offset);
        });
    };
    CHECK(store(Register::r10, -512) == 1);
    CHECK_THROWS_AS(store(Register::r10, -516), EbpfFault);
    CHECK_THROWS_AS(store(Register::r10, -2), EbpfFault);
    CHECK_THROWS_AS(store(Register::r7, 0), EbpfFault);
    CHECK_THROWS_AS(run([](EbpfCode &code) {
                        code.alu(EbpfWidth::k64, EbpfOperation::kAdd, Register::r10, -8);
                    }),
                    EbpfFault);
}

TEST_CASE("eBPF that does not end is a fault", "[mapi-core][match][ebpf]")
{
    CHECK_THROWS_AS(run([](EbpfCode &code) {
                        const EbpfCode::Label again = code.new_label();
                        code.bind(again);
                        code.jump(again);
                    }),
                    EbpfFault);
}
