// SPDX-License-Identifier: MIT
// Random valid BPF programs over random packets: machine code compared with libpcap's interpreter.
#include "match/bpf/bpf_program.hpp"

#include <algorithm>
#include <vector>

#include "match/bpf/index/bpf_tests.hpp"
#include "random_programs.hpp"
#include "support/catch.hpp"

namespace
{
using mapi::match::BpfProgram;
using match_test::fill;
using match_test::GuardedPackets;
using match_test::interpret;
using match_test::ProgramMaker;
} // namespace

TEST_CASE("random valid programs give the interpreter's answer for every packet",
          "[mapi-core][match][bpf]")
{
    ProgramMaker random(20260726);
    GuardedPackets packets;
    size_t native = 0;
    size_t accepted = 0;
    constexpr size_t kPrograms = 30000;
    for (size_t round = 0; round < kPrograms; ++round) {
        if (round % 100 == 0)
            fill(packets, random);
        const std::vector<bpf_insn> instructions = random.make();
        const BpfProgram program = BpfProgram::from_instructions(instructions);
        const uint64_t mask =
            random.below(4)
                ? packets.all()
                : packets.all() & (uint64_t{random.below(~0u)} << 32 | random.below(~0u));
        const uint64_t expected = interpret(instructions, packets, mask);
        const uint64_t matching = program.filter(packets.views(), mask);
        if (matching != expected) {
            for (size_t at = 0; at < instructions.size(); ++at)
                UNSCOPED_INFO(bpf_image(&instructions[at], int(at)));
            REQUIRE(matching == expected);
        }
        native += program.is_native();
        accepted += size_t(__builtin_popcountll(matching));
    }
    // The comparison is meaningful only if both answers are common.
    CHECK(accepted > kPrograms);
    CHECK(accepted < 60 * kPrograms);
#ifdef NETSLICE_NATIVE_FILTERS
    CHECK(native > kPrograms / 3);
#endif
}

TEST_CASE("a packet truncated to every length gives the interpreter's answer",
          "[mapi-core][match][bpf]")
{
    ProgramMaker random(7);
    GuardedPackets packets;
    std::vector<uint8_t> bytes(63);
    for (uint8_t &byte : bytes)
        byte = uint8_t(random.below(3));
    for (size_t cut = 0; cut <= bytes.size(); ++cut)
        packets.add(std::span(bytes).first(cut), 63);
    for (size_t round = 0; round < 10000; ++round) {
        const std::vector<bpf_insn> instructions = random.make();
        const BpfProgram program = BpfProgram::from_instructions(instructions);
        REQUIRE(program.filter(packets.views(), packets.all()) ==
                interpret(instructions, packets, packets.all()));
    }
}

TEST_CASE("a packet that a random program accepts passes one of the tests that it implies",
          "[mapi-core][match][bpf]")
{
    ProgramMaker random(41);
    GuardedPackets packets;
    size_t accepted = 0;
    for (size_t round = 0; round < 40000; ++round) {
        if (round % 100 == 0)
            fill(packets, random);
        const std::vector<bpf_insn> instructions = random.make();
        const auto tests =
            mapi::match::BpfTests(instructions).imply([&](const mapi::match::FieldTest &) {
                return uint64_t{1 + random.below(5)};
            });
        if (!tests)
            continue;
        uint64_t passing = 0;
        for (size_t at = 0; at < packets.count(); ++at) {
            for (const mapi::match::ImpliedTest &implied : *tests) {
                const bool is_guarded =
                    std::all_of(implied.guards.begin(), implied.guards.end(),
                                [&](const auto &guard) { return guard.passes(packets[at]); });
                if (is_guarded && implied.test.passes(packets[at]))
                    passing |= uint64_t{1} << at;
            }
        }
        const uint64_t matching = interpret(instructions, packets, packets.all());
        if ((matching & ~passing) != 0) {
            for (size_t at = 0; at < instructions.size(); ++at)
                UNSCOPED_INFO(bpf_image(&instructions[at], int(at)));
            REQUIRE((matching & ~passing) == 0);
        }
        accepted += size_t(__builtin_popcountll(matching));
    }
    CHECK(accepted > 300);
}
