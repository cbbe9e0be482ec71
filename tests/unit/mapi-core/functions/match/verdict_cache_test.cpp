// SPDX-License-Identifier: MIT
// Remembered verdicts are those of the programs, whatever these look at.
#include "match/bpf/index/verdict_cache.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "match/bpf/bpf_program.hpp"
#include "random_programs.hpp"
#include "support/catch.hpp"

namespace
{
using mapi::match::BpfCandidates;
using mapi::match::BpfProgram;
using mapi::match::BpfSteps;
using mapi::match::VerdictCache;

std::unique_ptr<VerdictCache> cache_of(const std::vector<BpfProgram> &programs)
{
    std::vector<BpfSteps> steps;
    for (const BpfProgram &program : programs)
        steps.push_back(program.instructions());
    return VerdictCache::make(steps);
}

// Recalls, learns what is unknown, and checks all verdicts.  Returns the number of unknown packets.
uint32_t check(VerdictCache &cache, const std::vector<BpfProgram> &programs,
               const mapi_packet *packets, uint64_t mask)
{
    const uint64_t unknown = cache.recall(packets, mask);
    CHECK((unknown & ~mask) == 0);
    std::vector<BpfCandidates> accepted;
    for (uint32_t i = 0; i < programs.size(); ++i) {
        if (const uint64_t passed = programs[i].filter(packets, unknown))
            accepted.push_back({passed, i});
    }
    cache.learn(unknown, accepted);
    std::vector<uint64_t> found(programs.size());
    for (const BpfCandidates &one : cache.verdicts()) {
        CHECK(found[one.program] == 0);
        found[one.program] = one.mask;
    }
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < programs.size(); ++i)
        wrong += found[i] != programs[i].filter(packets, mask);
    CHECK(wrong == 0);
    return uint32_t(std::popcount(unknown));
}

std::vector<BpfProgram> compile(const std::vector<std::string> &expressions)
{
    std::vector<BpfProgram> programs;
    for (const std::string &expression : expressions)
        programs.push_back(BpfProgram::compile(expression, 1, 0));
    return programs;
}

const std::vector<std::string> kFilters = {"tcp and dst portrange 6666-7000",
                                           "udp and not src port 80",
                                           "(ip or ip6) and not src port 80",
                                           "tcp and (src port 80 or src port 8080)",
                                           "icmp or icmp6",
                                           "tcp",
                                           "udp dst portrange 500-65535",
                                           "ip",
                                           "tcp and not src portrange 21-23",
                                           "tcp dst port 80",
                                           "ip src net 10.0.0.0/8"};

// Ethernet with IPv4 or IPv6, TCP, UDP or ICMP, cut at any place.
std::vector<uint8_t> random_frame(std::mt19937 &random)
{
    std::vector<uint8_t> bytes(74);
    for (uint8_t &byte : bytes)
        byte = uint8_t(random() % 3);
    const bool is_6 = random() % 4 == 0;
    static constexpr std::array<uint8_t, 4> kProtocols = {6, 17, 1, 58};
    static constexpr std::array<uint16_t, 6> kPorts = {80, 22, 6700, 500, 8080, 3};
    bytes[12] = is_6 ? 0x86 : random() % 9 == 0 ? 0x81 : 0x08;
    bytes[13] = is_6 ? 0xdd : 0;
    bytes[14] = is_6 ? 0x60 : uint8_t(0x45 + random() % 2);
    bytes[is_6 ? 20 : 23] = kProtocols[random() % 4];
    const size_t ports = is_6 ? 54 : 14 + 4 * size_t(bytes[14] & 0xf);
    for (const size_t at : {ports, ports + 2}) {
        const uint16_t port = kPorts[random() % 6];
        bytes[at] = uint8_t(port >> 8);
        bytes[at + 1] = uint8_t(port);
    }
    if (!is_6)
        bytes[20] = bytes[21] = uint8_t(random() % 8 == 0);
    bytes.resize(random() % 5 ? bytes.size() : random() % bytes.size());
    return bytes;
}
} // namespace

TEST_CASE("remembered verdicts are those of the filters", "[mapi-core][match][bpf]")
{
    const std::vector<BpfProgram> programs = compile(kFilters);
    const auto cache = cache_of(programs);
    REQUIRE(cache);
    std::mt19937 random(1);
    uint32_t unknown = 0;
    for (int round = 0; round < 400; ++round) {
        std::vector<std::vector<uint8_t>> frames;
        std::vector<mapi_packet> packets;
        for (int i = 0; i < MAPI_BATCH_MAX; ++i)
            frames.push_back(random_frame(random));
        for (const auto &frame : frames)
            packets.push_back(
                {frame.data(), uint32_t(frame.size()), uint32_t(frame.size()), 0, 1, 0, 0});
        const uint64_t mask = uint64_t{random()} << 32 | random();
        unknown += check(*cache, programs, packets.data(), mask);
        CHECK(check(*cache, programs, packets.data(), mask) <= 32); // only some share an entry
    }
    CHECK(unknown < 8000); // of 12,800
}

TEST_CASE("remembered verdicts are those of random programs", "[mapi-core][match][bpf]")
{
    int cached = 0;
    match_test::GuardedPackets packets;
    for (uint32_t seed = 1; seed <= 600; ++seed) {
        match_test::ProgramMaker maker(seed);
        std::vector<BpfProgram> programs;
        for (int i = 0; i < 2; ++i)
            programs.push_back(BpfProgram::from_instructions(maker.make()));
        const auto cache = cache_of(programs);
        if (!cache)
            continue;
        ++cached;
        for (int round = 0; round < 3; ++round) {
            match_test::fill(packets, maker);
            check(*cache, programs, packets.views(), packets.all());
            check(*cache, programs, packets.views(), packets.all());
        }
    }
    CHECK(cached > 50);
}

TEST_CASE("verdicts that depend on more than fields are not remembered", "[mapi-core][match][bpf]")
{
    CHECK_FALSE(cache_of(compile({"tcp", "greater 100"})));
    CHECK_FALSE(cache_of(compile({"tcp", "ip[ip[0] & 0xf : 1] = 3"})));
    CHECK(cache_of(compile({"tcp", "tcp[13] = 2"})));
}

TEST_CASE("values that no filter distinguishes are alike", "[mapi-core][match][bpf]")
{
    const std::vector<BpfProgram> programs = compile({"tcp dst portrange 10-70", "udp", "ip"});
    const auto cache = cache_of(programs);
    std::mt19937 random(2);
    std::vector<uint8_t> frame = random_frame(random);
    frame.resize(74);
    frame[12] = 8, frame[13] = 0, frame[14] = 0x45, frame[20] = frame[21] = 0, frame[23] = 6;
    const mapi_packet packet = {frame.data(), 74, 74, 0, 1, 0, 0};
    uint32_t unknown = 0;
    for (uint32_t port = 0; port < 65536; port += 7) {
        frame[34] = frame[36] = uint8_t(port >> 8), frame[35] = frame[37] = uint8_t(port);
        unknown += check(*cache, programs, &packet, 1);
    }
    CHECK(unknown == 3); // below, in and above the range
}

TEST_CASE("after many packets with new fields the cache rests", "[mapi-core][match][bpf]")
{
    std::vector<std::string> hosts;
    for (int i = 0; i < 40; ++i)
        hosts.push_back("dst host 10.0.0." + std::to_string(i));
    const std::vector<BpfProgram> programs = compile(hosts);
    const auto cache = cache_of(programs);
    std::mt19937 random(2);
    std::vector<uint8_t> frame = random_frame(random);
    frame.resize(74);
    frame[12] = 8, frame[13] = 0, frame[14] = 0x45;
    const mapi_packet packet = {frame.data(), 74, 74, 0, 1, 0, 0};
    for (uint32_t i = 0; i < 20000; ++i) {
        frame[31] = uint8_t(i >> 8), frame[32] = uint8_t(i);
        check(*cache, programs, &packet, 1);
    }
    CHECK(check(*cache, programs, &packet, 1) == 1);
}
