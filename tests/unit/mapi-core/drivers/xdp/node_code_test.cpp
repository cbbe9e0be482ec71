// SPDX-License-Identifier: MIT
// Samples, the last packet, and packets of which only some bytes are wanted, in XDP programs.
#include "drivers/xdp/code/node_code.hpp"

#include <array>
#include <cmath>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>

#include "drivers/xdp/clocks.hpp"
#include "support/can_load_xdp.hpp"
#include "support/catch.hpp"
#include "support/xdp_programs.hpp"
#include "support/xdp_search.hpp"

using namespace test_support;

namespace
{
// The ports of the packets that were handed over since the last call.
std::vector<int> ports_read(Machine &machine, const Program &program)
{
    std::vector<int> ports;
    while (const PacketRecord *record = machine.rings.take(program.number())) {
        const auto *words = reinterpret_cast<const uint64_t *>(record + 1);
        const auto *data = reinterpret_cast<const uint8_t *>(words + program.verdict_words());
        ports.push_back(data[36] << 8 | data[37]);
    }
    machine.rings.release();
    return ports;
}

void send(const Program &program, int first_port, int last_port)
{
    for (int port = first_port; port <= last_port; ++port)
        test_run(program.descriptor(), udp_to(uint16_t(port)));
}

// Runs on one CPU of those that this thread may use, until it is destroyed.
class OnCpu
{
public:
    explicit OnCpu(int number)
    {
        sched_getaffinity(0, sizeof(before_), &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &before_) && number-- <= 0) {
                CPU_SET(cpu, &one);
                break;
            }
        }
        sched_setaffinity(0, sizeof(one), &one);
    }
    ~OnCpu() { sched_setaffinity(0, sizeof(before_), &before_); }
    OnCpu(const OnCpu &) = delete;
    OnCpu &operator=(const OnCpu &) = delete;

private:
    cpu_set_t before_;
};
} // namespace

TEST_CASE("a program that only returns a number passes all packets or none", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    const bpf_insn all = {6, 0, 0, UINT32_MAX}, nothing = {6, 0, 0, 0};
    Machine machine;
    Nodes nodes;
    const uint32_t passes = nodes.code({&all, 1}, kAll, false);
    const uint32_t stops = nodes.code({&nothing, 1}, kAll, true);
    const uint32_t after_all = nodes.filter("port 2", passes);
    const uint32_t after_none = nodes.filter("port 2", stops, true);
    const uint32_t sample = nodes.sample(1, 1, stops);
    const uint32_t last = nodes.last(sample);
    const auto program = machine.make(nodes);
    send(*program, 1, 3);
    const auto found = counts(*program);
    CHECK(found[passes].packets == 3);
    CHECK(found[after_all].packets == 1);
    for (const uint32_t node : {stops, after_none, sample, last})
        CHECK(found[node].packets == 0);
    CHECK(!machine.rings.has(1));
}

TEST_CASE("every n-th packet passes, also when the next program continues", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes first, second;
    const uint32_t third = first.sample(3, 70, first.filter("udp", kAll));
    first.want(third, MAPI_OFFLOAD_WHOLE);
    const auto before = machine.make(first);
    test_run(before->descriptor(), Bytes(60, 0)); // does not come to the sample
    send(*before, 1, 7);
    CHECK(ports_read(machine, *before) == std::vector{3, 6});
    CHECK(counts(*before)[third].packets == 2);
    CHECK(counts(*before)[third].state.received == 7);

    machine.setup.number = 2;
    const uint32_t other = second.sample(2, 71, kAll);
    const uint32_t again = second.sample(3, 70, second.filter("udp", kAll));
    second.want(again, MAPI_OFFLOAD_WHOLE);
    const auto after = machine.make(second);
    CHECK(counts(*after)[again].packets == 0);
    send(*after, 8, 13);
    CHECK(ports_read(machine, *after) == std::vector{9, 12});
    CHECK(counts(*after)[again].state.received == 13);
    CHECK(counts(*after)[other].packets == 3);
}

TEST_CASE("a sample with a new state, or whose programs are gone, begins again", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    const auto passed_of_two = [&](uint64_t state) {
        Nodes nodes;
        const uint32_t sample = nodes.sample(3, state, kAll);
        auto program = machine.make(nodes);
        send(*program, 1, 2);
        return std::pair(counts(*program)[sample].packets, std::move(program));
    };
    auto first = passed_of_two(5);
    auto same = passed_of_two(5);
    auto renewed = passed_of_two(6);
    CHECK(first.first == 0);
    CHECK(same.first == 1); // number 4 and 3 of 4
    CHECK(renewed.first == 0);
    first.second.reset();
    same.second.reset();
    CHECK(passed_of_two(5).first == 0);
    for (uint64_t state = 100; state < 20000; ++state) // slots are given back
        REQUIRE(machine.states.lease(state));
}

TEST_CASE("a sample without a free slot is left to the engine with a reason", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    std::vector<StateSlots::Lease> all;
    for (uint64_t state = 1; StateSlots::Lease lease = machine.states.lease(state); ++state)
        all.push_back(std::move(lease));
    CHECK(all.size() >= 2048);
    Nodes nodes;
    const uint32_t sample = nodes.sample(3, 0, kAll);
    const auto program = machine.make(nodes);
    CHECK(!nodes.nodes[sample].is_taken);
    CHECK(nodes.nodes[sample].reason ==
          std::string("the driver has as many samples as it can have"));
    send(*program, 1, 2);
    CHECK(ports_read(machine, *program) == std::vector{1, 2});
}

TEST_CASE("a sample counts the packets of all CPUs together, and the last one is the newest",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const uint32_t third = nodes.sample(3, 1, kAll);
    const uint32_t last = nodes.last(kAll);
    nodes.want(third, MAPI_OFFLOAD_WHOLE);
    const auto program = machine.make(nodes);
    std::vector<int> ports;
    for (int port = 1; port <= 12; ++port) {
        const OnCpu pinned(port % 2);
        test_run(program->descriptor(), udp_to(uint16_t(port), 60 + size_t(port)));
        for (const int read : ports_read(machine, *program))
            ports.push_back(read);
        CHECK(counts(*program)[last].state.last_wire_bytes == uint64_t(60 + port));
    }
    CHECK(ports == std::vector{3, 6, 9, 12});
}

TEST_CASE("periods of 1 and of more than 32 bits", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const uint32_t each = nodes.sample(1, 1, kAll);
    const uint32_t none = nodes.sample(uint64_t(1) << 40, 2, kAll);
    const uint32_t odd = nodes.sample((uint64_t(1) << 32) + 1, 3, kAll);
    const auto program = machine.make(nodes);
    test_run(program->descriptor(), udp_to(1), 1000);
    const auto found = counts(*program);
    CHECK(found[each].packets == 1000);
    CHECK(found[none].packets == 0);
    CHECK(found[odd].packets == 0);
    CHECK(found[none].state.received == 1000);
}

TEST_CASE("packets pass at random with the probability of the sample", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    constexpr int kPackets = 20000;
    Machine machine;
    Nodes nodes;
    std::vector<std::pair<uint32_t, double>> samples;
    for (const double probability : {0.01, 0.3, 0.5, 0.99, 1.0})
        samples.emplace_back(nodes.sample_some(probability, kAll), probability);
    const uint32_t nested = nodes.sample_some(0.5, samples[2].first);
    samples.emplace_back(nested, 0.25);
    const auto program = machine.make(nodes);
    test_run(program->descriptor(), udp_to(1), kPackets);
    for (const auto &[node, probability] : samples) {
        const double expected = kPackets * probability;
        const double deviation = std::sqrt(expected * (1 - probability));
        INFO(probability);
        CHECK(std::abs(double(counts(*program)[node].packets) - expected) <= 6 * deviation);
    }
}

TEST_CASE("as many samples as fit are taken, the others are left to the engine", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    for (uint64_t state = 1; state <= 1100; ++state)
        nodes.sample(2, state, kAll);
    const auto program = machine.make(nodes);
    send(*program, 1, 4);
    size_t taken = 0;
    const auto found = counts(*program);
    for (size_t node = 0; node < nodes.nodes.size(); ++node) {
        taken += nodes.nodes[node].is_taken;
        if (nodes.nodes[node].is_taken)
            CHECK(found[node].packets == 2);
        else
            CHECK(nodes.nodes[node].reason);
    }
    CHECK(taken >= 500);
}

TEST_CASE("the last packet's time and length are known wherever they are asked for",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const uint32_t of_all = nodes.last(kAll);
    const uint32_t udp = nodes.filter("udp", kAll, true);
    const uint32_t of_udp = nodes.last(udp);
    const uint32_t same = nodes.last(udp);
    const uint32_t of_none = nodes.last(nodes.filter("tcp", udp));
    const auto program = machine.make(nodes);
    CHECK(counts(*program)[of_all].state.last_time_ns == 0);

    const uint64_t begin_ns = clock_ns(CLOCK_REALTIME);
    test_run(program->descriptor(), udp_to(7, 90));
    const uint64_t between_ns = clock_ns(CLOCK_REALTIME);
    test_run(program->descriptor(), Bytes(61, 0));
    const uint64_t end_ns = clock_ns(CLOCK_REALTIME);

    constexpr uint64_t kSlackNs = 1000000; // of the conversion
    const auto found = counts(*program);
    CHECK(found[of_all].state.last_wire_bytes == 61);
    CHECK(found[of_all].state.last_time_ns + kSlackNs >= between_ns);
    CHECK(found[of_all].state.last_time_ns <= end_ns + kSlackNs);
    CHECK(found[of_udp].state.last_wire_bytes == 90);
    CHECK(found[of_udp].state.last_time_ns + kSlackNs >= begin_ns);
    CHECK(found[of_udp].state.last_time_ns <= between_ns + kSlackNs);
    CHECK(found[same].state.last_time_ns == found[of_udp].state.last_time_ns);
    CHECK(found[of_none].state.last_time_ns == 0);
    CHECK(found[of_none].state.last_wire_bytes == 0);
    // It is the time of the packet's record, and does not change with the clocks.
    const PacketRecord *record = machine.rings.take(1);
    REQUIRE(record);
    const auto difference =
        int64_t(found[of_udp].state.last_time_ns - record->time_ns - monotonic_to_real_ns());
    CHECK(std::abs(difference) < int64_t(kSlackNs));
    for (int i = 0; i < 100; ++i)
        REQUIRE(counts(*program)[of_udp].state.last_time_ns == found[of_udp].state.last_time_ns);
}

TEST_CASE("samples and the last packet of one in several pieces", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const uint32_t large = nodes.filter("greater 8000", kAll);
    const uint32_t last = nodes.last(large);
    const uint32_t second = nodes.sample(2, 1, large);
    nodes.want(second, 100);
    const auto program = machine.make(nodes);
    for (const uint16_t port : {1, 2, 3, 4})
        test_run(program->descriptor(), udp_to(port, 9000u + port));
    CHECK(counts(*program)[last].state.last_wire_bytes == 9004);
    CHECK(ports_read(machine, *program) == std::vector{2, 4});
}

TEST_CASE("of a packet so many bytes are handed over as some node wants", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    const auto caplens = [](uint32_t all_bytes, std::array<uint32_t, 3> wanted) {
        Machine machine;
        Nodes nodes;
        const char *const filters[] = {"udp", "port 2 or port 4", "port 3 or port 4"};
        for (size_t i = 0; i < wanted.size(); ++i) {
            const uint32_t node = nodes.filter(filters[i], kAll);
            if (wanted[i])
                nodes.want(node, wanted[i]);
        }
        const auto program = machine.make_with(nodes, all_bytes);
        test_run(program->descriptor(), Bytes(1000, 0));
        for (const uint16_t port : {1, 2, 3, 4})
            test_run(program->descriptor(), udp_to(port, 1000));
        test_run(program->descriptor(), udp_to(4, 50));
        std::vector<uint32_t> found;
        while (const PacketRecord *record = machine.rings.take(1)) {
            CHECK(record->wire_bytes == (found.size() + (all_bytes ? 0 : 1) < 5 ? 1000u : 50u));
            found.push_back(record->caplen);
        }
        return found;
    };
    using Found = std::vector<uint32_t>;
    constexpr uint32_t kWhole = MAPI_OFFLOAD_WHOLE;
    CHECK(caplens(0, {64, 0, 0}) == Found{64, 64, 64, 64, 50});
    CHECK(caplens(0, {64, 200, 100}) == Found{64, 200, 100, 200, 50});
    CHECK(caplens(0, {64, kWhole, 100}) == Found{64, 1000, 100, 1000, 50});
    CHECK(caplens(0, {kWhole, 64, 64}) == Found{1000, 1000, 1000, 1000, 50});
    CHECK(caplens(80, {64, 200, 100}) == Found{80, 80, 200, 100, 200, 50});
    CHECK(caplens(kWhole, {64, 0, 0}) == Found{1000, 1000, 1000, 1000, 1000, 50});
    CHECK(caplens(1, {1, 0, 0}) == Found{1, 1, 1, 1, 1, 1});
    CHECK(caplens(70000, {1, 0, 0}) == Found{1000, 1000, 1000, 1000, 1000, 50});
}

TEST_CASE("a node that needs each packet is not taken behind one that may leave some to the engine",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    const uint32_t search = add(nodes, std::make_shared<const Search>("a"), kAll);
    const uint32_t sample = nodes.sample(2, 1, search);
    const uint32_t last = nodes.last(nodes.filter("udp", search));
    const auto program = machine.make(nodes);
    for (const uint32_t node : {sample, last}) {
        CHECK(!nodes.nodes[node].is_taken);
        CHECK(nodes.nodes[node].reason ==
              std::string("the kernel may leave packets before it to the engine"));
    }
}

TEST_CASE("a packet that a search leaves to the engine is handed over whole", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    nodes.want(nodes.filter("udp", kAll), 64);
    for (size_t bytes = 1; bytes <= 60; ++bytes)
        add(nodes, std::make_shared<const Search>(std::string(bytes, 'a')), kAll);
    const auto program = machine.make(nodes);
    Bytes slow = udp_to(1, 42);
    test_run(program->descriptor(), slow);
    slow.insert(slow.end(), 40, 'a');
    test_run(program->descriptor(), slow);
    slow.insert(slow.end(), 1360, 'a');
    test_run(program->descriptor(), slow);
    std::vector<uint32_t> caplens;
    while (const PacketRecord *record = machine.rings.take(1))
        caplens.push_back(record->caplen);
    CHECK(caplens == std::vector<uint32_t>{42, 64, uint32_t(slow.size())});
}
