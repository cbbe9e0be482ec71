// SPDX-License-Identifier: MIT
#include "match/bpf/bpf_program.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "guarded_packets.hpp"
#include "match/errors.hpp"
#include "support/catch.hpp"

namespace
{
using Catch::Matchers::Contains;
using mapi::match::BpfProgram;
using mapi::match::FilterError;
using match_test::GuardedPackets;

constexpr int kEthernet = 1;
constexpr int kRawIp = 101;

// 54 bytes: Ethernet, IPv4 without options, TCP to port 80.
std::vector<uint8_t> tcp_frame()
{
    std::vector<uint8_t> frame(54, 0);
    frame[12] = 0x08; // IPv4
    frame[14] = 0x45;
    frame[23] = 6; // TCP
    frame[34] = 0x12;
    frame[35] = 0x34; // source port
    frame[37] = 80;
    return frame;
}

bool answer(const std::vector<bpf_insn> &steps, const std::vector<uint8_t> &packet,
            uint32_t wire_bytes = 100)
{
    GuardedPackets packets;
    packets.add(packet, wire_bytes);
    const bool expected =
        bpf_filter(steps.data(), packets[0].data, wire_bytes, packets[0].caplen) != 0;
    const bool found = BpfProgram::from_instructions(steps).matches(packets[0].data,
                                                                    packets[0].caplen, wire_bytes);
    CHECK(found == expected);
    return found;
}

bpf_insn step(int code, uint32_t k, int jt = 0, int jf = 0)
{
    return {static_cast<u_short>(code), static_cast<u_char>(jt), static_cast<u_char>(jf), k};
}
} // namespace

TEST_CASE("an expression that does not compile is refused with libpcap's message",
          "[mapi-core][match][bpf]")
{
    CHECK_THROWS_WITH(BpfProgram::compile("tcp and (", kEthernet, 0), Contains("syntax error"));
    CHECK_THROWS_WITH(BpfProgram::compile("port 80000", kEthernet, 0), Contains("80000"));
    CHECK_THROWS_WITH(BpfProgram::compile("inbound", kEthernet, 0), Contains("inbound"));
    CHECK_THROWS_WITH(BpfProgram::compile("ip", 70000, 0), Contains("70000"));
    CHECK_THROWS_AS(BpfProgram::compile(std::string("ip\0x", 4), kEthernet, 0), FilterError);
}

TEST_CASE("an empty expression passes every packet, even an empty one", "[mapi-core][match][bpf]")
{
    const BpfProgram all = BpfProgram::compile("", kEthernet, 0);

    CHECK(all.matches(nullptr, 0, 0));
    const std::vector<mapi_packet> packets(MAPI_BATCH_MAX);
    CHECK(all.filter(packets.data(), ~uint64_t{0}) == ~uint64_t{0});
}

TEST_CASE("a filter sees the packet's ports", "[mapi-core][match][bpf]")
{
    const std::vector<uint8_t> frame = tcp_frame();
    const auto matches = [&](const char *expression) {
        return BpfProgram::compile(expression, kEthernet, 0)
            .matches(frame.data(), uint32_t(frame.size()), 60);
    };

    CHECK(matches("tcp port 80"));
    CHECK(matches("src port 0x1234"));
    CHECK_FALSE(matches("dst port 0x1234"));
    CHECK_FALSE(matches("udp"));
}

TEST_CASE("only packets whose bit is set are evaluated and reported", "[mapi-core][match][bpf]")
{
    const std::vector<uint8_t> tcp = tcp_frame();
    std::vector<uint8_t> udp = tcp;
    udp[23] = 17;
    GuardedPackets packets;
    for (size_t at = 0; at < MAPI_BATCH_MAX; ++at)
        packets.add(at % 3 == 0 ? tcp : udp, 60);
    uint64_t expected = 0;
    for (size_t at = 0; at < MAPI_BATCH_MAX; at += 3)
        expected |= uint64_t{1} << at;
    const auto engine = GENERATE(BpfProgram::Engine::kBest, BpfProgram::Engine::kInterpreter);
    const BpfProgram program = BpfProgram::compile("tcp", kEthernet, 0, engine);

    CHECK(program.filter(packets.views(), ~uint64_t{0}) == expected);
    CHECK(program.filter(packets.views(), 0) == 0);
    CHECK(program.filter(packets.views(), uint64_t{1} << 63) == (uint64_t{1} << 63 & expected));
    CHECK(program.filter(packets.views(), 0xff00ff00ff00ff00) == (0xff00ff00ff00ff00 & expected));
}

TEST_CASE("bytes that were not captured reject the packet", "[mapi-core][match][bpf]")
{
    const BpfProgram program = BpfProgram::compile("tcp dst port 80", kEthernet, 0);
    const std::vector<uint8_t> frame = tcp_frame();
    GuardedPackets packets;
    for (size_t cut = 0; cut < frame.size(); ++cut) {
        packets.add(std::span(frame).first(cut), 60);
        CHECK(program.matches(packets[cut].data, packets[cut].caplen, 60) == (cut >= 38));
    }
}

TEST_CASE("a length in a filter is the length on the wire", "[mapi-core][match][bpf]")
{
    const BpfProgram program = BpfProgram::compile("greater 1000", kEthernet, 0);
    const uint8_t byte = 0;

    CHECK(program.matches(&byte, 1, 1000));
    CHECK_FALSE(program.matches(&byte, 1, 999));
}

TEST_CASE("link types of capture files are recognised like those of the compiler",
          "[mapi-core][match][bpf]")
{
    const std::vector<uint8_t> frame = tcp_frame();
    const uint8_t *ip = frame.data() + 14;

    CHECK(BpfProgram::compile("tcp port 80", kRawIp, 0).matches(ip, 40, 40));
    CHECK(BpfProgram::compile("tcp port 80", DLT_RAW, 0).matches(ip, 40, 40));
}

TEST_CASE("a loopback header may come from any system", "[mapi-core][match][bpf]")
{
    const BpfProgram program = BpfProgram::compile("ip6", DLT_NULL, 0);
    for (const uint8_t family : {24, 28, 30}) { // AF_INET6 of NetBSD, FreeBSD, macOS
        const uint32_t header = family;
        std::vector<uint8_t> packet(44, 0);
        std::memcpy(packet.data(), &header, sizeof(header));
        CHECK(program.matches(packet.data(), uint32_t(packet.size()), 44));
    }
}

TEST_CASE("a filter that jumps backwards terminates as in the interpreter",
          "[mapi-core][match][bpf]")
{
    const BpfProgram program = BpfProgram::compile("ip6 protochain 6", kEthernet, 0);
    std::vector<uint8_t> frame(100, 0);
    frame[12] = 0x86;
    frame[13] = 0xdd;
    frame[20] = 0; // hop-by-hop, then twice destination options, then TCP
    frame[54] = 60;
    frame[62] = 60;
    frame[70] = 6;
    GuardedPackets packets;
    for (size_t cut = 50; cut <= frame.size(); ++cut)
        packets.add(std::span(frame).first(cut), 100);

    uint64_t expected = 0;
    for (size_t at = 0; at < packets.count(); ++at)
        if (bpf_filter(program.instructions().data(), packets[at].data, 100, packets[at].caplen) !=
            0)
            expected |= uint64_t{1} << at;
    CHECK(program.filter(packets.views(), packets.all()) == expected);
    CHECK(expected != 0);
    CHECK(expected != packets.all());
}

TEST_CASE("dividing by a zero in X rejects the packet", "[mapi-core][match][bpf]")
{
    const int operation = GENERATE(BPF_DIV, BPF_MOD);
    const auto divide_by_first_byte = [&](uint8_t divisor) {
        return answer({step(BPF_LD | BPF_B | BPF_ABS, 0), step(BPF_MISC | BPF_TAX, 0),
                       step(BPF_LD | BPF_IMM, 0xfffffff1), step(BPF_ALU | operation | BPF_X, 0),
                       step(BPF_RET | BPF_A, 0)},
                      {divisor});
    };

    CHECK_FALSE(divide_by_first_byte(0));
    CHECK(divide_by_first_byte(7));
}

TEST_CASE("shifting by 32 or more gives zero", "[mapi-core][match][bpf]")
{
    const int operation = GENERATE(BPF_LSH, BPF_RSH);
    const uint32_t count = GENERATE(0, 1, 31, 32, 33, 64, 0x80000000);
    const bool is_not_zero =
        answer({step(BPF_LDX | BPF_IMM, count), step(BPF_LD | BPF_IMM, 0xffffffff),
                step(BPF_ALU | operation | BPF_X, 0), step(BPF_RET | BPF_A, 0)},
               {});

    CHECK(is_not_zero == (count < 32));
}

TEST_CASE("an index that would wrap around the address space rejects the packet",
          "[mapi-core][match][bpf]")
{
    const uint32_t index = GENERATE(0, 1, 2, 3, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff);
    const bool found = answer({step(BPF_LDX | BPF_IMM, index), step(BPF_LD | BPF_B | BPF_IND, 2),
                               step(BPF_RET | BPF_K, 1)},
                              {0, 0, 0, 0, 0});

    CHECK(found == (index <= 2));
}

TEST_CASE("a check combined for several loads rejects no packet that a shorter path accepts",
          "[mapi-core][match][bpf]")
{
    // Byte 0 decides: if zero, accept immediately; otherwise, byte 9 is needed.
    const std::vector<bpf_insn> steps{
        step(BPF_LD | BPF_B | BPF_ABS, 0), step(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        step(BPF_RET | BPF_K, 1), step(BPF_LD | BPF_B | BPF_ABS, 9), step(BPF_RET | BPF_K, 1)};

    CHECK(answer(steps, {0}));
    CHECK_FALSE(answer(steps, {1}));
    CHECK(answer(steps, std::vector<uint8_t>(10, 1)));
}

TEST_CASE("instructions that the interpreter does not know are refused", "[mapi-core][match][bpf]")
{
    const auto program = [](bpf_insn first) {
        return std::vector<bpf_insn>{first, step(BPF_RET | BPF_K, 1)};
    };

    CHECK_THROWS_AS(BpfProgram::from_instructions({}), FilterError);
    CHECK_THROWS_AS(BpfProgram::from_instructions({step(BPF_LD | BPF_IMM, 1)}),
                    FilterError); // no return
    CHECK_THROWS_AS(BpfProgram::from_instructions(program(step(BPF_JMP | BPF_JA, 7))),
                    FilterError); // jumps out of the program
    CHECK_THROWS_AS(BpfProgram::from_instructions(program(step(BPF_ST, 16))),
                    FilterError); // no such word
    CHECK_THROWS_AS(BpfProgram::from_instructions(program(step(BPF_LD | BPF_H | BPF_LEN, 0))),
                    FilterError);
    CHECK_THROWS_AS(BpfProgram::from_instructions(program(step(BPF_ALU | BPF_DIV | BPF_K, 0))),
                    FilterError);
}

TEST_CASE("a filter still works after it has been moved", "[mapi-core][match][bpf]")
{
    const std::vector<uint8_t> frame = tcp_frame();
    BpfProgram first = BpfProgram::compile("tcp", kEthernet, 0);
    BpfProgram second = std::move(first);
    BpfProgram third = BpfProgram::compile("udp", kEthernet, 0);
    third = std::move(second);

    CHECK(third.matches(frame.data(), uint32_t(frame.size()), 54));
}

#ifdef NETSLICE_NATIVE_FILTERS
TEST_CASE("ordinary filters become machine code, libpcap's extensions do not",
          "[mapi-core][match][bpf]")
{
    CHECK(BpfProgram::compile("ip and tcp port 80", kEthernet, 0).is_native());
    CHECK_FALSE(
        BpfProgram::compile("ip", kEthernet, 0, BpfProgram::Engine::kInterpreter).is_native());
    const uint32_t vlan_tag_present = 0xfffff000 + 48; // SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT
    CHECK_FALSE(BpfProgram::from_instructions(
                    {step(BPF_LD | BPF_B | BPF_ABS, vlan_tag_present), step(BPF_RET | BPF_A, 0)})
                    .is_native());
}

TEST_CASE("no memory is writable and executable at the same time", "[mapi-core][match][bpf]")
{
    std::vector<BpfProgram> filters;
    for (int count = 0; count < 20; ++count)
        filters.push_back(BpfProgram::compile("tcp port " + std::to_string(count), kEthernet, 0));
    size_t executable = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    REQUIRE(maps);
    char line[512];
    while (fgets(line, sizeof(line), maps)) {
        CHECK_FALSE(std::strstr(line, " rwx"));
        executable += std::strstr(line, " r-xp 00000000 00:00 0 \n") != nullptr;
    }
    fclose(maps);
    CHECK(executable > 0);
}
#endif
