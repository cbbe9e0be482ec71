// SPDX-License-Identifier: MIT
// Programs for outgoing packets: the same nodes, counts and records as for incoming ones.
#include "drivers/xdp/code/packet_context.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <linux/if_packet.h>

#include "support/can_load_xdp.hpp"
#include "support/catch.hpp"
#include "support/xdp_programs.hpp"
#include "support/xdp_search.hpp"

using namespace test_support;

namespace
{
constexpr uint32_t kPasses = 2, kDrops = 1; // XDP_PASS, XDP_DROP
constexpr uint32_t kNext = UINT32_MAX;      // TCX_NEXT

struct BothMachine : Machine {
    BothMachine() : Machine(1 << 18, true) {}
};

uint32_t receive(const Program &program, const Bytes &packet)
{
    return test_run(program.descriptor(), packet).action;
}

uint32_t send(const Program &program, const Bytes &packet)
{
    return test_run(program.outgoing_descriptor(), packet).action;
}

uint32_t flow_hash(Nodes &nodes, uint32_t parts, uint32_t source)
{
    const uint32_t node = nodes.add(MAPI_OFFLOAD_FLOW_HASH, source);
    nodes.nodes[node].step.parts = parts;
    return node;
}

// Of each kind one, with an index over many filters.
Nodes all_kinds()
{
    Nodes nodes;
    const uint32_t udp = nodes.filter("udp", kAll);
    for (int port = 1; port < 20; ++port)
        nodes.filter("port " + std::to_string(port), udp);
    nodes.filter("greater 100", kAll);
    nodes.filter("ip[8] = 0 and ip[2 + ip[8]] = 0", kAll);
    add(nodes, std::make_shared<const Search>("needle"), udp);
    flow_hash(nodes, 512, kAll);
    nodes.sample(3, 1, udp);
    nodes.last(kAll);
    nodes.count(kAll);
    return nodes;
}

std::vector<Bytes> some_packets()
{
    std::vector<Bytes> packets;
    for (uint16_t port = 0; port < 60; ++port) {
        Bytes packet = udp_to(port, 60u + 3u * port);
        packet[17] = uint8_t(packet.size() - 14);
        packet[39] = 8;
        packet[29] = uint8_t(port);
        if (port % 4 == 0)
            std::copy_n("needle", 6, packet.end() - 7);
        packets.push_back(std::move(packet));
    }
    packets.emplace_back(Bytes(14, 0));
    packets.emplace_back(Bytes(30, 8));
    return packets;
}
} // namespace

TEST_CASE("each node counts outgoing packets as incoming ones, and the sum of both",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine incoming;
    BothMachine outgoing, both;
    Nodes nodes[] = {all_kinds(), all_kinds(), all_kinds()};
    const auto only_in = incoming.make(nodes[0]);
    const auto only_out = outgoing.make(nodes[1]);
    const auto in_and_out = both.make(nodes[2]);
    CHECK(only_in->outgoing_descriptor() == -1);
    for (const Bytes &packet : some_packets()) {
        CHECK(receive(*only_in, packet) == kPasses);
        CHECK(send(*only_out, packet) == kNext);
        CHECK(receive(*in_and_out, packet) == kPasses);
        CHECK(send(*in_and_out, packet) == kNext);
    }
    const auto in = counts(*only_in), out = counts(*only_out), sum = counts(*in_and_out);
    for (size_t node = 0; node < in.size(); ++node) {
        INFO(node);
        if (node < nodes[0].nodes.size())
            REQUIRE((nodes[0].nodes[node].is_taken && nodes[1].nodes[node].is_taken));
        CHECK(in[node].packets > 0);
        CHECK(out[node].packets == in[node].packets);
        CHECK(out[node].wire_bytes == in[node].wire_bytes);
        CHECK(out[node].state.received == in[node].state.received);
        CHECK(out[node].state.last_wire_bytes == in[node].state.last_wire_bytes);
        CHECK(sum[node].state.received == 2 * in[node].state.received);
        const bool is_sample =
            node < nodes[0].nodes.size() && nodes[0].nodes[node].step.kind == MAPI_OFFLOAD_SAMPLE;
        if (!is_sample) // its bytes depend on which packets pass
            CHECK(sum[node].wire_bytes == 2 * in[node].wire_bytes);
        CHECK(sum[node].packets == 2 * in[node].packets);
    }
}

TEST_CASE("records of both directions come in the order of their time and say which it is",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    BothMachine machine;
    Nodes nodes;
    nodes.filter("udp", kAll, true);
    const auto program = machine.make(nodes);
    std::vector<std::pair<int, int>> read; // port, type
    for (int port = 1; port <= 12; ++port) {
        const Bytes packet = udp_to(uint16_t(port), 60u + unsigned(port));
        if (port % 3 == 0)
            receive(*program, packet);
        else
            send(*program, packet);
    }
    send(*program, Bytes(60, 0));
    while (const PacketRecord *record = machine.rings.take(program->number())) {
        const auto *words = reinterpret_cast<const uint64_t *>(record + 1);
        const auto *data = reinterpret_cast<const uint8_t *>(words + program->verdict_words());
        const int port = data[36] << 8 | data[37];
        CHECK(record->caplen == 60 + port);
        CHECK(record->wire_bytes == 60u + unsigned(port));
        CHECK(Bytes(data, data + record->caplen) == udp_to(uint16_t(port), 60u + unsigned(port)));
        read.emplace_back(port, record->packet_type);
    }
    REQUIRE(read.size() == 12);
    for (int port = 1; port <= 12; ++port)
        CHECK(read[size_t(port - 1)] ==
              std::pair<int, int>(port, port % 3 == 0 ? PACKET_HOST : PACKET_OUTGOING));
}

TEST_CASE("a program that drops incoming packets lets outgoing ones out", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    BothMachine machine;
    machine.setup.drops = true;
    Nodes nodes;
    const uint32_t udp = nodes.filter("udp", kAll, true);
    const auto program = machine.make(nodes);
    CHECK(receive(*program, udp_to(1)) == kDrops);
    CHECK(send(*program, udp_to(1)) == kNext);
    CHECK(counts(*program)[udp].packets == 2);
}

TEST_CASE("one direction may still have the previous program when the other has the next",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    BothMachine machine;
    Nodes none;
    const auto previous = machine.make(none, true);
    machine.setup.number = 2;
    const auto next = machine.make(none, true);
    receive(*previous, udp_to(1));
    receive(*next, udp_to(2)); // replaced first
    send(*previous, udp_to(3));
    send(*next, udp_to(4));
    CHECK(machine.rings.take(1));
    CHECK(machine.rings.take(1));
    CHECK(!machine.rings.has(1));
    CHECK(machine.rings.take(2));
    CHECK(machine.rings.take(2));
    CHECK(machine.rings.drops().late == 0);
}

TEST_CASE("a filter that the kernel refuses is left to the engine for both directions",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    BothMachine machine;
    Nodes nodes;
    const uint32_t before = nodes.filter("udp", kAll);
    const uint32_t loop = nodes.filter("ip6 protochain 17", kAll);
    const auto program = machine.make(nodes);
    CHECK(nodes.nodes[before].is_taken);
    CHECK(!nodes.nodes[loop].is_taken);
    send(*program, udp_to(7));
    CHECK(counts(*program)[before].packets == 1);
    CHECK(machine.rings.has(1));
}
