// SPDX-License-Identifier: MIT
// Probes of programs for both directions: which records they write, and what they cost a program.
#include "drivers/xdp/code/probe_code.hpp"

#include <algorithm>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include "drivers/xdp/cost/program_copy.hpp"
#include "support/can_load_xdp.hpp"
#include "support/catch.hpp"
#include "support/verified_instructions.hpp"
#include "support/xdp_programs.hpp"
#include "support/xdp_recorder.hpp"
#include "support/xdp_search.hpp"

using namespace test_support;

namespace
{
// This thread runs there only, and so do test runs.
class OnCpu
{
public:
    explicit OnCpu(uint32_t cpu)
    {
        REQUIRE(sched_getaffinity(0, sizeof(before_), &before_) == 0);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
    }
    ~OnCpu() { sched_setaffinity(0, sizeof(before_), &before_); }
    OnCpu(const OnCpu &) = delete;
    OnCpu &operator=(const OnCpu &) = delete;

private:
    cpu_set_t before_;
};

std::vector<uint32_t> own_cpus()
{
    cpu_set_t mine;
    REQUIRE(sched_getaffinity(0, sizeof(mine), &mine) == 0);
    std::vector<uint32_t> cpus;
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &mine))
            cpus.push_back(cpu);
    }
    return cpus;
}

// As records have it, in the initial pid namespace; `otherwise` if this is another one.
uint32_t own_thread(uint32_t otherwise)
{
    char space[64] = {};
    REQUIRE(readlink("/proc/self/ns/pid", space, sizeof(space) - 1) > 0);
    return std::string(space) == "pid:[4026531836]" ? uint32_t(gettid()) : otherwise;
}

uint64_t now_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

// A filter with a search behind it, and the flows' hash.
Nodes all_stages()
{
    Nodes nodes;
    const uint32_t udp = nodes.filter("udp", kAll, true);
    add(nodes, std::make_shared<const Search>("needle"), udp);
    nodes.nodes[nodes.add(MAPI_OFFLOAD_FLOW_HASH, kAll)].step.parts = 512;
    return nodes;
}

std::string text_of(const std::vector<ProbeRecord> &records)
{
    static const char *const kKinds[] = {"?", "START", "STOP", "MARK", "INIT", "EXIT"};
    std::string text;
    for (const ProbeRecord &record : records)
        text += std::string(kKinds[record.kind]) + " " + record.name + "\n";
    return text;
}

const std::string kUdpStages = "INIT xdp_packet\nSTART xdp_filters\nSTART xdp_search\n"
                               "STOP xdp_search\nSTOP xdp_filters\nSTART xdp_hash\n"
                               "STOP xdp_hash\nSTART xdp_record\nSTOP xdp_record\n"
                               "EXIT xdp_packet\n";
// Neither searched nor read by the engine.
const std::string kArpStages = "INIT xdp_packet\nSTART xdp_filters\nSTOP xdp_filters\n"
                               "START xdp_hash\nSTOP xdp_hash\nEXIT xdp_packet\n";

std::string outgoing(std::string text)
{
    for (size_t at = 0; (at = text.find("xdp_", at)) != std::string::npos;)
        text.replace(at, 4, "tcx_");
    return text;
}

Bytes arp()
{
    Bytes frame(60, 0);
    frame[12] = 8;
    frame[13] = 6;
    return frame;
}
} // namespace

TEST_CASE("a packet is a unit with its number and length, and its stages are slices in their order",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine(1 << 18, true);
    Nodes nodes = all_stages();
    const auto program = machine.make(nodes);
    const ProbeRecorder recorder(program->descriptor());
    recorder.switch_on();
    for (const uint32_t cpu : own_cpus()) {
        const OnCpu there(cpu);
        const uint64_t before_ns = now_ns();
        test_run(program->descriptor(), udp_to(7, 90));
        test_run(program->descriptor(), arp());
        test_run(program->outgoing_descriptor(), udp_to(7, 80));
        test_run(program->descriptor(), udp_to(7, 8000)); // in several pieces
        const std::vector<ProbeRecord> records = recorder.drain(cpu);
        CHECK(text_of(records) == kUdpStages + kArpStages + outgoing(kUdpStages) + kUdpStages);
        uint64_t last_ns = before_ns;
        const uint32_t thread = own_thread(records.front().thread);
        std::vector<std::vector<uint64_t>> units;
        for (const ProbeRecord &record : records) {
            CHECK(record.thread == thread);
            CHECK(record.time_ns >= last_ns);
            last_ns = record.time_ns;
            if (record.kind == NSLICE_KIND_INIT)
                units.push_back(record.words);
            else
                CHECK(record.words.empty());
        }
        CHECK(last_ns <= now_ns());
        CHECK(units ==
              std::vector<std::vector<uint64_t>>{{1, 1, 90}, {2, 1, 60}, {3, 1, 80}, {4, 1, 8000}});
    }
    CHECK(recorder.lost(NSLICE_LOST_FULL) == 0);
    CHECK(recorder.lost(NSLICE_LOST_BUSY) == 0);
}

TEST_CASE("a site says its name, kind and place, and nothing is written while it is off",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes = all_stages();
    const auto program = machine.make(nodes);
    const ProbeRecorder recorder(program->descriptor());
    REQUIRE(recorder.sites() == ProbeMaps::kSites);
    CHECK(recorder.rings() == count_cpus());
    CHECK(recorder.data_bytes() == 64 << 10);
    for (size_t i = 0; i < recorder.sites(); ++i) {
        CHECK(recorder.site(i).kind != 0);
        CHECK(recorder.site(i).line > 0);
        CHECK(std::string(recorder.site(i).file).ends_with("drivers/xdp/probe_maps.cpp"));
        CHECK(recorder.site(i).bits == 0);
    }
    const OnCpu first(own_cpus().front());
    const auto records = [&] {
        test_run(program->descriptor(), udp_to(7));
        return text_of(recorder.drain(own_cpus().front()));
    };
    CHECK(records().empty());
    recorder.switch_on("xdp_search");
    CHECK(records() == "START xdp_search\nSTOP xdp_search\n");
    recorder.switch_off();
    CHECK(records().empty());
    CHECK(counts(*program).back().packets == 3);
}

TEST_CASE("filters behind a sample are a slice, and those behind a filter are in its slice",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    nodes.filter("port 7", nodes.filter("udp", kAll));
    nodes.filter("udp", nodes.sample(1, 1, kAll));
    const auto program = machine.make(nodes);
    const ProbeRecorder recorder(program->descriptor());
    recorder.switch_on();
    const OnCpu first(own_cpus().front());
    test_run(program->descriptor(), udp_to(7));
    CHECK(text_of(recorder.drain(own_cpus().front())) ==
          "INIT xdp_packet\nSTART xdp_filters\nSTOP xdp_filters\nSTART xdp_filters\n"
          "STOP xdp_filters\nEXIT xdp_packet\n");
}

TEST_CASE("each record is in the ring or counted as lost, however often the ring wraps and fills",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes;
    nodes.filter("udp", kAll);
    const auto program = machine.make(nodes);
    const ProbeRecorder recorder(program->descriptor());
    recorder.switch_on();
    constexpr size_t kWords = 5 + 2 + 2 + 2; // of a packet
    const uint32_t cpu = own_cpus().front();
    const OnCpu first(cpu);
    uint64_t read = 0, packets = 0;
    for (const uint32_t burst : {700u, 1u, 3000u, 650u, 5000u}) {
        test_run(program->descriptor(), udp_to(7), burst);
        packets += burst;
        const std::vector<ProbeRecord> records = recorder.drain(cpu);
        const size_t most = recorder.data_bytes() / NSLICE_WORD_BYTES / kWords;
        if (burst < most)
            CHECK(records.size() == 4 * burst);
        else
            CHECK(records.size() >= 4 * most);
        read += records.size();
        CHECK(read + recorder.lost(NSLICE_LOST_FULL) == 4 * packets);
    }
    CHECK(recorder.lost(NSLICE_LOST_FULL) > 4 * 6000);
    CHECK(recorder.lost(NSLICE_LOST_BUSY) == 0);
    CHECK(counts(*program).back().packets == packets);
}

TEST_CASE("a site that is on stays on in the device's next program", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes none, nodes = all_stages();
    const auto earlier = machine.make(none);
    const ProbeRecorder recorder(earlier->descriptor());
    recorder.switch_on();
    const OnCpu first(own_cpus().front());
    test_run(earlier->descriptor(), udp_to(7));
    const auto later = machine.make(nodes);
    test_run(later->descriptor(), udp_to(7));
    CHECK(text_of(recorder.drain(own_cpus().front())) ==
          "INIT xdp_packet\nEXIT xdp_packet\n" + kUdpStages);
}

TEST_CASE("test runs of a copy are not recorded", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes = all_stages();
    const auto program = machine.make(nodes);
    const ProbeRecorder recorder(program->descriptor());
    recorder.switch_on();
    CopiedNodes copied(program->tree());
    const ProgramCopy copy(copied, machine.setup);
    CHECK(!ProbeRecorder::has_probes(copy.descriptor()));
    test_run(copy.descriptor(), udp_to(7));
    for (uint32_t cpu = 0; cpu < recorder.rings(); ++cpu)
        CHECK(recorder.drain(cpu).empty());
}

namespace
{
using Instruction = mapi::match::EbpfInstruction;

constexpr uint8_t kWide = 0x18, kCall = 0x85, kExit = 0x95;

bool is_jump(const Instruction &one)
{
    const int its_class = one.code & 7;
    return (its_class == 5 || its_class == 6) && one.code != kCall && one.code != kExit;
}

bool refers_to_function(const Instruction &one)
{
    return (one.code == kCall && one.registers >> 4 == 1) ||
           (one.code == kWide && one.registers >> 4 == 4);
}

// Of the instructions that stay, with the places that jumps and calls lead to as numbers.
std::vector<std::vector<int64_t>> described(std::span<const Instruction> code,
                                            const std::vector<bool> &is_left_out)
{
    std::vector<int64_t> place(code.size() + 1);
    for (size_t i = 0; i < code.size(); ++i)
        place[i + 1] = place[i] + !is_left_out[i];
    std::vector<std::vector<int64_t>> all;
    for (size_t i = 0; i < code.size(); ++i) {
        if (is_left_out[i])
            continue;
        const Instruction &one = code[i];
        int64_t offset = one.offset, constant = one.constant;
        if (is_jump(one))
            offset = place[size_t(int64_t(i) + 1 + offset)];
        else if (refers_to_function(one))
            constant = place[size_t(int64_t(i) + 1 + constant)];
        all.push_back({one.code, one.registers, offset, constant});
    }
    return all;
}

// Those from the address of a site to where its probe leads when it is off, and the functions that
// they call, which are the last ones.
std::vector<bool> probes_in(std::span<const Instruction> code, int sites)
{
    std::vector<bool> is_probe(code.size());
    size_t end = code.size();
    for (size_t i = 0; i + 3 < code.size(); ++i) {
        if (code[i].code != kWide || code[i].registers >> 4 != 2 || code[i].constant != sites)
            continue;
        const size_t off = i + 4 + size_t(code[i + 3].offset);
        size_t call = i + 4;
        while (!refers_to_function(code[call]))
            ++call;
        REQUIRE(call < off);
        std::fill(is_probe.begin() + int64_t(i), is_probe.begin() + int64_t(off), true);
        end = std::min(end, call + 1 + size_t(code[call].constant));
    }
    std::fill(is_probe.begin() + int64_t(end), is_probe.end(), true);
    return is_probe;
}
} // namespace

TEST_CASE("a program without probes has the other instructions of one with them, and no others",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Machine machine;
    Nodes nodes = all_stages();
    for (int port = 1; port < 20; ++port) // found by tables
        nodes.filter("port " + std::to_string(port), kAll);
    const auto program = machine.make(nodes);
    for (const Direction direction : {Direction::kIncoming, Direction::kOutgoing}) {
        ProgramSetup setup = machine.setup;
        setup.direction = direction;
        mapi::match::EbpfCode with, without;
        emit_program(program->tree(), setup, with);
        setup.probes = nullptr;
        emit_program(program->tree(), setup, without);
        with.finish();
        without.finish();
        const auto probes = probes_in(with.instructions(), machine.probes->sites());
        // INIT, EXIT and a pair of each stage, for packets in one piece and in several
        CHECK(std::ranges::count(probes, true) > 2 * 10 * 5);
        CHECK(described(with.instructions(), probes) ==
              described(without.instructions(), std::vector<bool>(without.instructions().size())));
    }
}

TEST_CASE("probes add little to what the verifier follows", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    const auto verified = [](bool has_probes, int filters) {
        Machine machine(1 << 18, true);
        if (!has_probes)
            machine.setup.probes = nullptr;
        Nodes nodes = all_stages();
        for (int i = 1; i <= filters; ++i)
            nodes.filter("host 10.0.0." + std::to_string(i) + " and udp port " + std::to_string(i),
                         kAll);
        const auto program = machine.make(nodes);
        return verified_instructions(program->descriptor());
    };
    CHECK(verified(true, 0) < verified(false, 0) + 2000);
    CHECK(verified(true, 100) < verified(false, 100) + 2000);
}
