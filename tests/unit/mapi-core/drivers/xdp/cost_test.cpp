// SPDX-License-Identifier: MIT
// The cost of XDP programs, measured on copies of them.
#include <string>
#include <vector>

#include "drivers/xdp/cost/net_cost.hpp"
#include "drivers/xdp/cost/run_statistics.hpp"
#include "support/can_load_xdp.hpp"
#include "support/catch.hpp"
#include "support/xdp_programs.hpp"

using namespace test_support;

namespace
{
constexpr auto kNeverOver = [] { return false; };

mapi_cost_net net_cost(const Machine &machine, const Program &program,
                       const std::vector<PacketBytes> &packets)
{
    CopiedNodes nodes(program.tree());
    ProgramCopy copy(nodes, machine.setup);
    const auto empty = load_empty_program(true);
    return measure_net_cost(copy, empty.number(), packets, kNeverOver);
}

std::shared_ptr<const mapi_search> search_for(const std::string &text)
{
    struct Held {
        std::string text;
        mapi_search_text bytes = {};
        mapi_search search = {};
    };
    const auto held = std::make_shared<Held>(Held{text});
    held->bytes = {reinterpret_cast<const uint8_t *>(held->text.data()),
                   uint32_t(held->text.size())};
    held->search.texts = &held->bytes;
    held->search.text_count = 1;
    return {held, &held->search};
}
} // namespace

TEST_CASE("the runs of a copy change no count of the program and hand over no packet",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const uint32_t udp = nodes.filter("udp", kAll, true);
    const uint32_t found = nodes.search(search_for("xyz"), udp);
    nodes.filter("port 7", udp);
    const auto program = machine.make(nodes, true);
    test_run(program->descriptor(), udp_to(7));

    const mapi_cost_net cost = net_cost(machine, *program, {udp_to(7), udp_to(8, 4000)});
    CHECK(cost.packets == 2);
    CHECK(cost.runs >= 2);
    CHECK(counts(*program).back().packets == 1);
    CHECK(counts(*program)[udp].packets == 1);
    CHECK(counts(*program)[found].packets == 0);
    CHECK(machine.rings.take(1) != nullptr);
    CHECK(machine.rings.take(1) == nullptr);
}

TEST_CASE("a copy outlives the nodes of its program and runs the same code", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    auto nodes = std::make_unique<Nodes>();
    const uint32_t udp = nodes->filter("udp", kAll);
    nodes->filter("ip6 protochain 6", kAll); // which the kernel refuses
    nodes->search(search_for("xyz"), udp, true);
    auto program = machine.make(*nodes);
    REQUIRE(!nodes->nodes[1].is_taken);
    const ProgramFacts original = facts_of(program->descriptor());

    CopiedNodes copied(program->tree());
    program.reset();
    nodes.reset();
    ProgramCopy copy(copied, machine.setup);
    CHECK(copied.nodes().size() == 2);
    CHECK(facts_of(copy.descriptor()).instructions == original.instructions);
    CHECK(original.instructions > 0);
    CHECK(original.code_bytes > 0);
}

TEST_CASE("the net cost grows with the number of functions", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    const auto net_ns = [](int filters) {
        Machine machine;
        Nodes nodes;
        for (int i = 0; i < filters; ++i) // no two of them can share a look-up
            nodes.filter("ether[" + std::to_string(14 + i % 40) + "] > 250", kAll);
        const auto program = machine.make(nodes);
        return net_cost(machine, *program, {udp_to(7), udp_to(8), udp_to(9)}).net_ns;
    };
    const double few_ns = net_ns(2), many_ns = net_ns(400);
    CHECK(few_ns > 0);
    CHECK(many_ns > 4 * few_ns);
}

TEST_CASE("packets that the program hands over always find room for their runs", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const auto program = machine.make(nodes, true);
    CopiedNodes copied(program->tree());
    ProgramCopy copy(copied, machine.setup);
    for (const size_t bytes : {60, 1514, 9014}) {
        const uint32_t runs = copy.runs_until_full(bytes);
        CHECK(runs > 10);
        for (int call = 0; call < 3; ++call) {
            copy.clear_ring();
            test_run(copy.descriptor(), udp_to(7, bytes), runs);
            CHECK(copy.lost_packets() == 0);
        }
    }
}

TEST_CASE("a measurement that is to end early has the packets until then", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const auto program = machine.make(nodes);
    CopiedNodes copied(program->tree());
    ProgramCopy copy(copied, machine.setup);
    const auto empty = load_empty_program(true);
    int asked = 0;
    const auto cost = measure_net_cost(copy, empty.number(), {udp_to(7), udp_to(8), udp_to(9)},
                                       [&] { return ++asked > 2; });
    CHECK(cost.packets == 2);
}
