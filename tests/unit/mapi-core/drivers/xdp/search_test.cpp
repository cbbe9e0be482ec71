// SPDX-License-Identifier: MIT
// Searches by an XDP program: the same packets as StringMatcher, run on given packets.
#include "drivers/xdp/search_automaton.hpp"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "drivers/xdp/layout.hpp"
#include "support/can_load_xdp.hpp"
#include "support/catch.hpp"
#include "support/xdp_programs.hpp"
#include "support/xdp_search.hpp"

using namespace test_support;
using mapi::match::LetterCase;

namespace
{
// Letters of a small alphabet, so that texts overlap and are found often.
std::string random_text(std::mt19937 &random, size_t bytes)
{
    std::string text;
    for (size_t i = 0; i < bytes; ++i)
        text += "abcABC"[random() % 6];
    return text;
}

Bytes packet_of(const std::string &payload, uint16_t port = 7)
{
    Bytes packet = udp_to(port, 42);
    packet.insert(packet.end(), payload.begin(), payload.end());
    return packet;
}

uint64_t verdict(const Program &program, const PacketRecord &record, uint32_t node,
                 std::vector<uint64_t> &undecided)
{
    std::vector<uint64_t> passed(program.nodes());
    undecided.assign(program.nodes(), 0);
    program.add_verdicts(reinterpret_cast<const uint64_t *>(&record + 1), 1, passed.data(),
                         undecided.data());
    return passed[node];
}
} // namespace

TEST_CASE("searches find what StringMatcher finds, in their windows, behind filters, in any case",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    std::mt19937 random(7);
    Machine machine;
    Nodes nodes;
    const uint32_t udp = nodes.filter("udp port 7", kAll);
    std::vector<std::shared_ptr<const Search>> searches;
    std::vector<uint32_t> first, behind;
    for (int i = 0; i < 150; ++i) {
        std::string pattern = random_text(random, 1 + random() % 6);
        if (i % 10 == 0)
            pattern += "||" + random_text(random, 1 + random() % 4);
        const int offset = i % 3 ? 0 : int(random() % 100);
        const int depth = i % 4 ? 0 : int(pattern.size() + random() % 100);
        searches.push_back(std::make_shared<const Search>(
            pattern, offset, depth, i % 5 ? LetterCase::kExact : LetterCase::kIgnored));
        first.push_back(add(nodes, searches.back(), kAll));
        behind.push_back(add(nodes, searches.back(), udp));
    }
    const uint32_t nested = add(nodes, searches[3], first[2]);
    const auto program = machine.make(nodes);
    for (const mapi_offload_node &node : nodes.nodes)
        REQUIRE(node.is_taken);

    std::vector<uint64_t> expected(searches.size()), expected_behind(searches.size());
    uint64_t expected_nested = 0;
    for (int i = 0; i < 2000; ++i) {
        const std::string filler(i % 100 == 0 ? 4500 : 0, 'x'); // so that it has several pieces
        const Bytes packet =
            packet_of(filler + random_text(random, random() % 90), uint16_t(6 + i % 2));
        test_run(program->descriptor(), packet);
        for (size_t at = 0; at < searches.size(); ++at) {
            expected[at] += searches[at]->matches(packet);
            expected_behind[at] += i % 2 && searches[at]->matches(packet);
        }
        expected_nested += searches[2]->matches(packet) && searches[3]->matches(packet);
    }
    const auto found = counts(*program);
    for (size_t at = 0; at < searches.size(); ++at) {
        CHECK(found[first[at]].packets == expected[at]);
        CHECK(found[behind[at]].packets == expected_behind[at]);
    }
    CHECK(found[nested].packets == expected_nested);
    CHECK(!machine.rings.has(1)); // no search has ended early
}

TEST_CASE("a search that a packet would make slow ends, and leaves the packet to the engine",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    std::vector<std::shared_ptr<const Search>> searches;
    uint32_t longest = 0;
    for (size_t bytes = 1; bytes <= 60; ++bytes) {
        searches.push_back(std::make_shared<const Search>(std::string(bytes, 'a')));
        longest = add(nodes, searches.back(), kAll, bytes == 60);
    }
    const uint32_t after = nodes.count(longest);
    const auto program = machine.make(nodes);
    std::vector<uint64_t> undecided;

    test_run(program->descriptor(), packet_of(std::string(60, 'a')));
    const PacketRecord *record = machine.rings.take(1);
    REQUIRE(record);
    CHECK(verdict(*program, *record, longest, undecided) == 1);
    CHECK(undecided == std::vector<uint64_t>(program->nodes()));
    CHECK(counts(*program)[after].packets == 1);

    const Bytes slow = packet_of(std::string(1400, 'a'));
    test_run(program->descriptor(), slow);
    record = machine.rings.take(1);
    REQUIRE(record);
    CHECK(record->caplen == slow.size());
    CHECK(verdict(*program, *record, longest, undecided) == 0);
    CHECK(undecided[0] == 1);
    CHECK(undecided[longest] == 1);
    CHECK(undecided[after] == 0); // the engine runs it behind the search
    CHECK(counts(*program)[after].packets == 1);

    test_run(program->descriptor(), packet_of("b"));
    CHECK(!machine.rings.take(1));
}

TEST_CASE("searches with the same text behind many filters count as one end of a text",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const auto search = std::make_shared<const Search>("GET");
    std::vector<uint32_t> found;
    for (int port = 1; port <= 100; ++port)
        found.push_back(add(nodes, search, nodes.filter("port " + std::to_string(port), kAll)));
    const auto program = machine.make(nodes);
    std::string payload;
    for (int i = 0; i < 60; ++i)
        payload += "GET ";
    test_run(program->descriptor(), packet_of(payload, 7));
    for (const mapi_offload_node &node : nodes.nodes)
        REQUIRE(node.is_taken);
    CHECK(counts(*program)[found[6]].packets == 1);
    CHECK(counts(*program)[found[7]].packets == 0);
    CHECK(!machine.rings.has(1));
}

TEST_CASE("a search that no packet comes to takes no other function out of the kernel",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const bpf_insn nothing = {6, 0, 0, 0}; // returns 0
    const uint32_t none = nodes.code({&nothing, 1}, kAll, false);
    const auto search = std::make_shared<const Search>("x");
    const uint32_t behind = add(nodes, search, none);
    const uint32_t udp = nodes.filter("udp", kAll);
    const auto program = machine.make(nodes);
    CHECK(nodes.nodes[none].is_taken);
    CHECK(nodes.nodes[behind].is_taken);
    CHECK(nodes.nodes[udp].is_taken);
    test_run(program->descriptor(), packet_of("x"));
    CHECK(counts(*program)[udp].packets == 1);
    CHECK(counts(*program)[behind].packets == 0);
}

TEST_CASE("texts of all bytes are found, and bytes of an earlier packet are not",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    std::string pattern = "|";
    for (int byte = 0; byte < 256; ++byte) {
        constexpr char kDigits[] = "0123456789abcdef";
        pattern += {kDigits[byte / 16], kDigits[byte % 16], ' '};
    }
    const auto all = std::make_shared<const Search>(pattern + "|");
    const auto end = std::make_shared<const Search>("zyx");
    const uint32_t all_bytes = add(nodes, all, kAll), end_bytes = add(nodes, end, kAll);
    const auto program = machine.make(nodes);
    std::string payload;
    for (int byte = 0; byte < 256; ++byte)
        payload += char(byte);
    test_run(program->descriptor(), packet_of(payload));
    test_run(program->descriptor(), packet_of("12345678zyx"));
    test_run(program->descriptor(), packet_of("12345678zy")); // an x follows in the buffer
    test_run(program->descriptor(), packet_of("12345678"));
    CHECK(counts(*program)[all_bytes].packets == 1);
    CHECK(counts(*program)[end_bytes].packets == 1);
}

TEST_CASE("a search sees the bytes that the device captures, not more", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    machine.setup.snaplen = 50;
    Nodes nodes;
    const auto search = std::make_shared<const Search>("abc");
    const uint32_t node = add(nodes, search, kAll);
    const auto program = machine.make(nodes);
    test_run(program->descriptor(), packet_of("12345abc"));
    test_run(program->descriptor(), packet_of("123456abc"));
    CHECK(counts(*program)[node].packets == 1);
}

TEST_CASE("texts that need too large a table are left to the engine, others are not",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    std::mt19937 random(3);
    Machine machine;
    Nodes nodes;
    std::vector<std::shared_ptr<const Search>> searches;
    for (int i = 0; i < 8; ++i) {
        searches.push_back(
            std::make_shared<const Search>(random_text(random, i % 2 ? 50 : 200000)));
        add(nodes, searches.back(), kAll);
    }
    const auto program = machine.make(nodes);
    bool is_any_refused = false;
    for (size_t i = 0; i < searches.size(); ++i) {
        if (i % 2)
            CHECK(nodes.nodes[i].is_taken); // a small one
        else if (!nodes.nodes[i].is_taken)
            CHECK(nodes.nodes[i].reason ==
                  std::string("the texts of all searches need too large a table"));
        is_any_refused |= !nodes.nodes[i].is_taken;
    }
    CHECK(is_any_refused);
}
