// SPDX-License-Identifier: MIT
// Index over filters: it never misses a packet that a filter accepts, and finds few others, however
// the filters are written.
#include "match/bpf/index/bpf_index.hpp"

#include <array>
#include <bit>
#include <functional>
#include <string>

#include "match/bpf/bpf_program.hpp"
#include "match/bpf/index/bpf_tests.hpp"
#include "support/catch.hpp"

namespace
{
using mapi::match::BpfIndex;
using mapi::match::BpfProgram;
using mapi::match::BpfTests;

constexpr uint32_t kFilters = 100;

// Ethernet, IPv4 with one word of options, TCP.
std::array<uint8_t, 62> tcp_packet(uint16_t source, uint16_t destination,
                                   uint8_t last_of_address = 1)
{
    std::array<uint8_t, 62> bytes = {};
    bytes[12] = 0x08;
    bytes[14] = 0x46;
    bytes[23] = 6;
    bytes[26] = 10;
    bytes[29] = last_of_address;
    bytes[38] = uint8_t(source >> 8);
    bytes[39] = uint8_t(source);
    bytes[40] = uint8_t(destination >> 8);
    bytes[41] = uint8_t(destination);
    return bytes;
}

mapi_packet view(std::span<const uint8_t> bytes)
{
    mapi_packet packet = {};
    packet.data = bytes.data();
    packet.caplen = packet.wire_len = uint32_t(bytes.size());
    return packet;
}

struct Filters {
    std::vector<BpfProgram> programs;
    std::unique_ptr<BpfIndex> index;

    explicit Filters(const std::function<std::string(uint32_t)> &expression,
                     uint32_t count = kFilters)
    {
        for (uint32_t i = 0; i < count; ++i)
            programs.push_back(BpfProgram::compile(expression(i), 1, 0));
        std::vector<mapi::match::BpfSteps> steps;
        for (const BpfProgram &program : programs)
            steps.push_back(program.instructions());
        index = BpfIndex::make(steps);
    }
    std::vector<uint32_t> candidates(std::span<const uint8_t> bytes) const
    {
        const mapi_packet packet = view(bytes);
        std::vector<uint32_t> found;
        for (const auto &candidate : index->find(&packet, 1))
            found.push_back(candidate.program);
        return found;
    }
};
} // namespace

TEST_CASE("a filter on a port is found by the port, however it is written",
          "[mapi-core][match][bpf]")
{
    const std::string expression = GENERATE(
        "port %", "tcp port %", "port % and tcp", "tcp dst port %",
        "tcp and (src port 6% or dst port %)", "ip and tcp[2:2] = %", "ip proto 6 and dst port %",
        "tcp and (dst port % or dst port 3%) and not src port 9", "dst port % and net 10.0.0.0/8",
        "less 1000 and dst port % and greater 20", "host 10.0.0.1 and port %");
    INFO(expression);
    const Filters filters([&](uint32_t i) {
        std::string text = expression;
        for (size_t at = text.find('%'); at != std::string::npos; at = text.find('%'))
            text.replace(at, 1, std::to_string(1000 + i));
        return text;
    });

    REQUIRE(filters.index);
    CHECK(filters.index->unindexed() == 0);
    const auto hit = tcp_packet(1, 1042);
    CHECK(filters.candidates(hit) == std::vector<uint32_t>{42});
    CHECK(filters.candidates(tcp_packet(1, 999)).empty());
    CHECK(filters.candidates(std::span(hit).first(41)).empty());
    CHECK(filters.candidates(std::span(hit).first(0)).empty());
}

TEST_CASE("a filter on an address is found by the address", "[mapi-core][match][bpf]")
{
    const std::string expression =
        GENERATE("src host 10.0.0.%", "host 10.0.0.% and tcp port 80", "ip[12:4] = 0x0a000000 + %",
                 "src net 10.0.0.%/32", "tcp port 80 and not host 1.2.3.4 and ip host 10.0.0.%");
    INFO(expression);
    const Filters filters([&](uint32_t i) {
        return std::string(expression).replace(expression.find('%'), 1, std::to_string(i));
    });

    REQUIRE(filters.index);
    CHECK(filters.index->unindexed() == 0);
    CHECK(filters.candidates(tcp_packet(80, 80, 17)) == std::vector<uint32_t>{17});
    CHECK(filters.candidates(tcp_packet(80, 80, 200)).empty());
}

TEST_CASE("filters that no field distinguishes are not indexed", "[mapi-core][match][bpf]")
{
    CHECK_FALSE(Filters([](uint32_t i) { return "greater " + std::to_string(i); }).index);
    CHECK_FALSE(Filters([](uint32_t i) { return "not port " + std::to_string(i); }).index);
    CHECK_FALSE(Filters([](uint32_t i) {
                    return "port 7 or port " + std::to_string(1000 + i);
                }).index); // 7 would find them all
    CHECK_FALSE(Filters([](uint32_t i) { return "tcp and greater " + std::to_string(i); }).index);
    CHECK_FALSE(Filters([](uint32_t i) { return "port " + std::to_string(i); }, 7).index);
}

TEST_CASE("a filter that cannot be found by a field is a candidate for every packet",
          "[mapi-core][match][bpf]")
{
    const Filters filters([](uint32_t i) {
        return i == 3 ? "tcp" : i == 5 ? "greater 10" : "port " + std::to_string(1000 + i);
    });

    REQUIRE(filters.index);
    CHECK(filters.index->unindexed() == 2);
    CHECK(filters.candidates(tcp_packet(0x7000, 0x7000)) == std::vector<uint32_t>{3, 5});
    CHECK(filters.candidates(tcp_packet(0x7000, 1070)) == std::vector<uint32_t>{3, 5, 70});
}

TEST_CASE("candidates of a batch are the packets of the mask that have the value",
          "[mapi-core][match][bpf]")
{
    const Filters filters([](uint32_t i) { return "port " + std::to_string(1000 + i); });
    std::vector<std::array<uint8_t, 62>> bytes;
    std::vector<mapi_packet> packets;
    for (uint16_t i = 0; i < 64; ++i)
        bytes.push_back(tcp_packet(uint16_t(1000 + i % 2), uint16_t(1001)));
    for (const auto &packet : bytes)
        packets.push_back(view(packet));

    for (int call = 0; call < 3; ++call) {
        const auto found = filters.index->find(packets.data(), 0xffff00000000000full);
        REQUIRE(found.size() == 2);
        CHECK(found[0].program == 0);
        CHECK(found[0].mask == 0x5555000000000005ull);
        CHECK(found[1].program == 1);
        CHECK(found[1].mask == 0xffff00000000000full);
    }
}

TEST_CASE("packets that any filter may accept are those with a candidate",
          "[mapi-core][match][bpf]")
{
    const auto port = [](uint32_t i) {
        return (i % 2 ? "ip6 and port " : "port ") + std::to_string(1000 + i);
    };
    const Filters filters(port);
    const Filters with_any([&](uint32_t i) { return i == 3 ? "tcp" : port(i); });
    std::vector<std::array<uint8_t, 62>> bytes;
    std::vector<mapi_packet> packets;
    for (uint16_t i = 0; i < 64; ++i)
        bytes.push_back(tcp_packet(uint16_t(i % 5 ? 7 * i : 1000 + 2 * i), uint16_t(50 * i)));
    for (const auto &packet : bytes)
        packets.push_back(view(packet));
    constexpr uint64_t kMask = 0xffff0f00000000ffull;

    uint64_t with_candidate = 0;
    for (const auto &candidate : filters.index->find(packets.data(), kMask))
        with_candidate |= candidate.mask;
    const uint64_t accepted = filters.index->may_accept(packets.data(), kMask);

    REQUIRE(with_candidate != 0);
    CHECK((accepted & with_candidate) == with_candidate);
    CHECK((accepted & ~kMask) == 0);
    CHECK(std::popcount(accepted) < std::popcount(kMask)); // a few others at most
    CHECK(with_any.index->may_accept(packets.data(), kMask) == kMask);
}

TEST_CASE("a filter that accepts nothing is never a candidate, one that accepts all always is",
          "[mapi-core][match][bpf]")
{
    const std::vector<bpf_insn> nothing{{BPF_RET | BPF_K, 0, 0, 0}},
        all{{BPF_RET | BPF_K, 0, 0, 1}};
    const auto cost = [](const mapi::match::FieldTest &) { return uint64_t{1}; };

    CHECK(BpfTests(nothing).imply(cost).value().empty());
    CHECK_FALSE(BpfTests(all).imply(cost));
}

TEST_CASE("the bytes of IPv6 ports are not ports in an IPv4 packet", "[mapi-core][match][bpf]")
{
    const Filters filters([](uint32_t i) { return "port " + std::to_string(1000 + i); });
    auto bytes = tcp_packet(1, 2);
    bytes[54] = bytes[56] = 1003 >> 8;
    bytes[55] = bytes[57] = 1003 & 0xff;
    CHECK(filters.candidates(bytes).empty());
    bytes[12] = 0x86;
    bytes[13] = 0xdd;
    CHECK(filters.candidates(bytes) == std::vector<uint32_t>{3});
}
