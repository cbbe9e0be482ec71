// SPDX-License-Identifier: MIT
// Random valid BPF programs over random packets: eBPF in the kernel compared with libpcap's
// interpreter.
#include "match/bpf/native/bpf_emit_ebpf.hpp"

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "match/errors.hpp"
#include "random_programs.hpp"
#include "support/catch.hpp"
#include "support/kernel_filters.hpp"
#include "support/requires.hpp"

namespace
{
using mapi::drivers::xdp::KernelRefusal;
using mapi::match::BpfSteps;
using mapi::match::EbpfBytes;
using match_test::GuardedPackets;
using match_test::ProgramMaker;
using test_support::KernelFilters;
using Program = std::vector<bpf_insn>;

constexpr size_t kLeastPacketBytes = 14;  // that the kernel runs a program on
constexpr size_t kMostPacketBytes = 3000; // in one piece

bool can_run(const KernelRefusal &refusal)
{
    if (refusal.number() != EPERM)
        return true;
    test_support::skip(refusal.what());
    return false;
}

std::string text(const Program &program)
{
    std::string lines;
    for (size_t at = 0; at < program.size(); ++at)
        lines += std::string(bpf_image(&program[at], int(at))) + "\n";
    return lines;
}

bool is_accepted(const Program &program, const mapi_packet &packet)
{
    return bpf_filter(program.data(), packet.data, packet.wire_len, packet.caplen) != 0;
}

// Programs that can be written as eBPF, and whose interpreter's answer is defined.
std::vector<Program> make_programs(ProgramMaker &random, size_t count)
{
    std::vector<Program> programs;
    while (programs.size() < count) {
        Program program = random.make();
        if (bpf_validate(program.data(), int(program.size())) &&
            mapi::match::can_emit_ebpf(program))
            programs.push_back(std::move(program));
    }
    return programs;
}

struct Compared {
    size_t packets = 0;
    size_t accepted = 0;
};

void compare(KernelFilters &kernel, const std::vector<Program> &programs,
             const GuardedPackets &packets, EbpfBytes bytes, Compared &compared)
{
    for (size_t at = 0; at < packets.count(); ++at) {
        const mapi_packet &packet = packets[at];
        if (bytes == EbpfBytes::kPacket &&
            (packet.caplen < kLeastPacketBytes || packet.caplen > kMostPacketBytes))
            continue;
        const auto verdicts = kernel.run({packet.data, packet.caplen}, packet.wire_len);
        for (size_t program = 0; program < programs.size(); ++program) {
            const bool is_accepted_in_kernel = verdicts[program / 64] >> program % 64 & 1;
            ++compared.packets;
            compared.accepted += is_accepted_in_kernel;
            if (is_accepted_in_kernel != is_accepted(programs[program], packet)) {
                INFO(text(programs[program]));
                INFO("packet of " << packet.caplen << " bytes, wire length " << packet.wire_len);
                REQUIRE(is_accepted_in_kernel == is_accepted(programs[program], packet));
            }
        }
    }
}

void compare_random_programs(EbpfBytes bytes)
{
    ProgramMaker random(20261127);
    GuardedPackets packets;
    Compared compared;
    constexpr size_t kRounds = 40;
    constexpr size_t kPrograms = 60;
    for (size_t round = 0; round < kRounds; ++round) {
        match_test::fill(packets, random);
        const std::vector<Program> programs = make_programs(random, kPrograms);
        try {
            KernelFilters kernel({programs.begin(), programs.end()}, bytes);
            compare(kernel, programs, packets, bytes, compared);
        } catch (const KernelRefusal &refusal) {
            if (!can_run(refusal))
                return;
            for (const Program &program : programs) {
                try {
                    KernelFilters kernel({program}, bytes);
                } catch (const KernelRefusal &) {
                    INFO(text(program));
                    REQUIRE(refusal.what() == std::string());
                }
            }
            REQUIRE(refusal.what() == std::string());
        }
    }
    // The comparison is meaningful only if both answers are common.
    CHECK(compared.packets > kRounds * kPrograms * 10);
    CHECK(compared.accepted > compared.packets / 100);
    CHECK(compared.accepted < compared.packets);
}
} // namespace

TEST_CASE("random programs in the kernel give the interpreter's answer for packets",
          "[mapi-core][match][ebpf]")
{
    compare_random_programs(EbpfBytes::kPacket);
}

TEST_CASE("random programs in the kernel give the interpreter's answer for copied packets",
          "[mapi-core][match][ebpf]")
{
    compare_random_programs(EbpfBytes::kBuffer);
}
