// SPDX-License-Identifier: MIT
// XDP programs of several functions, run on given packets without an interface.
#include "drivers/xdp/program.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/can_load_xdp.hpp"
#include "support/catch.hpp"
#include "support/verified_instructions.hpp"
#include "support/xdp_programs.hpp"

using namespace test_support;

TEST_CASE("each node counts the packets and bytes that pass it and those before it",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const uint32_t udp = nodes.filter("udp", kAll);
    const uint32_t first = nodes.filter("port 7", udp);
    const uint32_t second = nodes.filter("port 8", udp);
    const uint32_t bytes = nodes.count(second);
    const uint32_t all = nodes.count(kAll);
    const auto program = machine.make(nodes);
    for (const uint16_t port : {7, 8, 8, 9})
        CHECK(test_run(program->descriptor(), udp_to(port, 60 + port)).action == 2); // XDP_PASS
    test_run(program->descriptor(), Bytes(60, 0));

    const auto found = counts(*program);
    CHECK(found[udp].packets == 4);
    CHECK(found[udp].wire_bytes == 4 * 60 + 7 + 8 + 8 + 9);
    CHECK(found[first].packets == 1);
    CHECK(found[second].packets == 2);
    CHECK(found[bytes].wire_bytes == 2 * 68);
    CHECK(found[all].packets == 5);
    CHECK(found.back().packets == 5);
    CHECK(!machine.rings.has(1));
}

namespace
{
std::vector<std::string> make_expressions()
{
    std::vector<std::string> expressions = {"not port 3",
                                            "portrange 2-9",
                                            "port 0",
                                            "src port 4 and dst port 4",
                                            "port 5 or port 6",
                                            "src port 7 or dst port 8",
                                            "udp",
                                            "ip[8] = 0"};
    for (int i = 1; i < 60; ++i) {
        expressions.push_back("udp port " + std::to_string(i));
        expressions.push_back("host 10.0.0." + std::to_string(i));
        if (i % 3 == 0)
            expressions.push_back("tcp dst port " + std::to_string(i));
    }
    return expressions;
}
} // namespace

TEST_CASE("many filters that an index finds count what the interpreter accepts", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    const std::vector<std::string> expressions = make_expressions();
    Machine machine;
    Nodes nodes;
    const uint32_t ip = nodes.filter("ip", kAll);
    std::vector<mapi::match::BpfProgram> judges;
    std::vector<uint32_t> first, second;
    for (const std::string &expression : expressions) {
        judges.push_back(mapi::match::BpfProgram::compile(
            expression, 1, 0, mapi::match::BpfProgram::Engine::kInterpreter));
        first.push_back(nodes.filter(expression, kAll));
        second.push_back(nodes.filter(expression, ip)); // an index behind a filter
    }
    const uint32_t nested = nodes.filter("port 2", first[10]);
    const auto program = machine.make(nodes);
    for (const mapi_offload_node &node : nodes.nodes)
        REQUIRE(node.is_taken);

    std::mt19937 random(1);
    std::vector<uint64_t> expected(expressions.size());
    const auto nested_judge = mapi::match::BpfProgram::compile("port 2", 1, 0);
    uint64_t expected_nested = 0;
    for (int i = 0; i < 3000; ++i) {
        Bytes packet = udp_to(uint16_t(random() % 12), i % 50 == 0 ? 5000 : 60);
        packet[35] = uint8_t(random() % 12); // source port
        packet[23] = random() % 2 ? 17 : 6;
        packet[26] = packet[30] = 10;
        packet[29] = uint8_t(random() % 70);
        packet[33] = uint8_t(random() % 70);
        if (random() % 4 == 0)
            packet.resize(14 + random() % 26);
        test_run(program->descriptor(), packet);
        const auto bytes = uint32_t(packet.size());
        expected_nested += judges[10].matches(packet.data(), bytes, bytes) &&
                           nested_judge.matches(packet.data(), bytes, bytes);
        for (size_t filter = 0; filter < judges.size(); ++filter)
            expected[filter] += judges[filter].matches(packet.data(), uint32_t(packet.size()),
                                                       uint32_t(packet.size()));
    }
    const auto found = counts(*program);
    for (size_t filter = 0; filter < expressions.size(); ++filter) {
        INFO(expressions[filter]);
        CHECK(found[first[filter]].packets == expected[filter]);
        CHECK(found[second[filter]].packets == expected[filter]);
    }
    CHECK(found[nested].packets == expected_nested);
}

TEST_CASE("what filters find out about the length does not multiply what the verifier follows",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    const auto verified = [](bool has_lengths) {
        Machine machine;
        Nodes nodes;
        for (int i = 1; i <= 24; ++i) {
            const std::string number = std::to_string(i);
            nodes.filter("host 10.0.0." + number + " and udp port " + number +
                             (has_lengths ? " and greater " + std::to_string(60 + i) : ""),
                         kAll);
        }
        const auto program = machine.make(nodes);
        CHECK(std::ranges::all_of(nodes.nodes, [](const auto &node) { return node.is_taken; }));
        return verified_instructions(program->descriptor());
    };
    CHECK(verified(true) < 2 * verified(false));
}

TEST_CASE("a program has at most 1,024 filters, and counters of any number of flows",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    std::vector<uint32_t> filters, counters;
    for (int i = 0; i < 1030; ++i) {
        filters.push_back(nodes.filter("ether[36:2] = " + std::to_string(i + 1), kAll));
        counters.push_back(nodes.count(filters.back()));
        counters.push_back(nodes.count(kAll));
    }
    const auto program = machine.make(nodes);
    test_run(program->descriptor(), udp_to(1024));
    test_run(program->descriptor(), udp_to(1025));
    const auto found = counts(*program);
    CHECK(nodes.nodes[filters[1023]].is_taken);
    CHECK(found[counters[2 * 1023]].packets == 1);
    CHECK(!nodes.nodes[filters[1024]].is_taken);
    CHECK(!nodes.nodes[counters[2 * 1024]].is_taken);
    CHECK(found[counters.back()].packets == 2);
    CHECK(machine.rings.has(1)); // for the last filters
}

TEST_CASE("only packets that a node wants are handed over, with the verdicts of all such nodes",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const uint32_t first = nodes.filter("port 7", kAll, true);
    const uint32_t large = nodes.filter("greater 100", kAll, true);
    nodes.filter("port 9", kAll);
    const auto program = machine.make(nodes);
    const std::vector<Bytes> sent = {udp_to(7), udp_to(9), udp_to(7, 200), udp_to(8, 300)};
    for (const Bytes &packet : sent)
        test_run(program->descriptor(), packet);

    std::vector<std::pair<Bytes, std::vector<uint64_t>>> read;
    while (const PacketRecord *record = machine.rings.take(1)) {
        const auto *words = reinterpret_cast<const uint64_t *>(record + 1);
        const auto *data = reinterpret_cast<const uint8_t *>(words + program->verdict_words());
        read.push_back({{data, data + record->caplen}, std::vector<uint64_t>(nodes.nodes.size())});
        CHECK(program->add_verdicts(words, 1, read.back().second.data(), nullptr));
    }
    REQUIRE(read.size() == 3);
    CHECK(read[0].first == sent[0]);
    CHECK(read[1].first == sent[2]);
    CHECK(read[2].first == sent[3]);
    const auto verdicts = [&](size_t at) {
        return std::pair(read[at].second[first], read[at].second[large]);
    };
    CHECK(verdicts(0) == std::pair<uint64_t, uint64_t>(1, 0));
    CHECK(verdicts(1) == std::pair<uint64_t, uint64_t>(1, 1));
    CHECK(verdicts(2) == std::pair<uint64_t, uint64_t>(0, 1));
}

TEST_CASE("a ring hands over what fits, however often it wraps, and counts the rest",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes none;
    const auto program = machine.make(none, true);
    Bytes packet(60, 1);
    for (uint32_t round = 0; round < 2000; ++round) {
        packet.resize(60 + round % 1500, uint8_t(round));
        test_run(program->descriptor(), packet);
        const PacketRecord *record = machine.rings.take(1);
        REQUIRE(record);
        const auto *data = reinterpret_cast<const uint8_t *>(record + 1);
        REQUIRE(Bytes(data, data + record->caplen) == packet);
        machine.rings.release();
    }
    packet.assign(1500, 2);
    test_run(program->descriptor(), packet, 1000);
    uint64_t read = 0;
    while (machine.rings.take(1))
        ++read;
    CHECK(read > 100);
    CHECK(read + machine.rings.drops().ring_full == 1000);
    CHECK(counts(*program).back().packets == 3000);
}

TEST_CASE("a packet in several pieces is filtered and handed over as one", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const uint32_t last = nodes.filter("ether[8999] = 5", kAll, true);
    const uint32_t other = nodes.filter("ether[8999] = 6", kAll, true);
    const auto program = machine.make(nodes);
    Bytes packet(9000, 3);
    packet.back() = 5;
    test_run(program->descriptor(), packet);
    CHECK(counts(*program)[last].packets == 1);
    CHECK(counts(*program)[last].wire_bytes == 9000);
    CHECK(counts(*program)[other].packets == 0);
    const PacketRecord *record = machine.rings.take(1);
    REQUIRE(record);
    CHECK(record->caplen == 9000);
    const auto *data = reinterpret_cast<const uint8_t *>(record + 1) + 8 * program->verdict_words();
    CHECK(Bytes(data, data + 9000) == packet);
}

TEST_CASE("records of an earlier program behind later ones are skipped and counted",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes none;
    const auto earlier = machine.make(none, true);
    machine.setup.number = 2;
    const auto later = machine.make(none, true);
    test_run(earlier->descriptor(), udp_to(1));
    test_run(later->descriptor(), udp_to(2));
    test_run(earlier->descriptor(), udp_to(3)); // as a queue whose program is replaced last
    test_run(later->descriptor(), udp_to(4));
    CHECK(machine.rings.has(1));
    CHECK(machine.rings.take(1));
    CHECK(!machine.rings.take(1));
    CHECK(machine.rings.take(2));
    CHECK(machine.rings.take(2));
    CHECK(!machine.rings.take(2));
    CHECK(machine.rings.drops().late == 1);
}

TEST_CASE("a spare program takes no node and counts from its activation", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes none, nodes;
    nodes.filter("udp", kAll);
    const auto loaded = machine.make(none, true);
    test_run(loaded->descriptor(), udp_to(1));
    const auto spare = Program::make_spare(*loaded, nodes.nodes, "why");
    CHECK(!nodes.nodes[0].is_taken);
    spare->begin();
    test_run(spare->descriptor(), udp_to(1), 3);
    CHECK(counts(*spare).back().packets == 3);
    CHECK(machine.rings.has(spare->number()));
}

TEST_CASE("a filter that the kernel refuses is left to the engine with a reason, others are not",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const uint32_t before = nodes.filter("udp", kAll);
    const uint32_t loop = nodes.filter("ip6 protochain 17", kAll); // a loop without a limit
    const uint32_t after = nodes.filter("port 7", loop);
    const auto program = machine.make(nodes);
    CHECK(nodes.nodes[before].is_taken);
    CHECK(!nodes.nodes[loop].is_taken);
    CHECK(nodes.nodes[loop].reason == std::string("the kernel's verifier refuses it"));
    CHECK(!nodes.nodes[after].is_taken);
    test_run(program->descriptor(), udp_to(7));
    CHECK(counts(*program)[before].packets == 1);
    CHECK(machine.rings.has(1)); // the engine filters it
    CHECK(std::ranges::count(machine.known, false, [](const auto &code) { return code.second; }) ==
          1);
}
