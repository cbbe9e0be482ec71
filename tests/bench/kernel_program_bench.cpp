// SPDX-License-Identifier: MIT
// The time of XDP programs of many functions compared with those of one, by BPF_PROG_TEST_RUN.
#include <cerrno>
#include <ctime>
#include <fstream>
#include <iostream>
#include <random>
#include <set>

#include "figure.hpp"
#include "support/xdp_programs.hpp"
#include "support/xdp_search.hpp"

namespace
{
using mapi::drivers::xdp::KernelRefusal;
using mapi::drivers::xdp::test_run;
using test_support::Bytes;
using test_support::Machine;
using test_support::Nodes;
using test_support::Search;

constexpr uint32_t kAll = MAPI_OFFLOAD_ALL;
constexpr int kRounds = 9;
constexpr uint32_t kRuns = 20000;
constexpr int kPairs = 301;
constexpr size_t kPacketBytes = 730; // mean of the packets of seed 001's measurements
constexpr size_t kStrings = 1024, kFlows = 500;

double thread_ns()
{
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * double(time.tv_sec) + double(time.tv_nsec);
}

class Measured
{
public:
    explicit Measured(Nodes &&nodes, bool has_probes = true) : nodes_(std::move(nodes))
    {
        if (!has_probes)
            machine_.setup.probes = nullptr;
        program_ = machine_.make(nodes_);
        for (const mapi_offload_node &node : nodes_.nodes)
            if (!node.is_taken)
                throw std::runtime_error(std::string("left to the engine: ") + node.reason);
    }
    double ns(const Bytes &packet) const
    {
        return test_run(program_->descriptor(), packet, kRuns).duration_ns;
    }
    // The kernel's mean has whole ns only, and counts what else runs on the CPU meanwhile.
    double precise_ns(const Bytes &packet) const
    {
        const double begin_ns = thread_ns();
        test_run(program_->descriptor(), packet, kRuns);
        return (thread_ns() - begin_ns) / kRuns;
    }

private:
    Machine machine_;
    Nodes nodes_;
    std::unique_ptr<mapi::drivers::xdp::Program> program_;
};

// Pronounceable words, as texts in packets.
std::string word(std::mt19937 &random, size_t letters)
{
    std::string text;
    for (size_t i = 0; i < letters; ++i)
        text += i % 2 ? "aeiou"[random() % 5] : "bcdfghjklmnpqrstvwxyz"[random() % 21];
    return text;
}

Measured search_for(size_t count)
{
    std::mt19937 random(5);
    std::set<std::string> words;
    while (words.size() < count)
        words.insert(word(random, 8 + random() % 9));
    Nodes nodes;
    for (const std::string &text : words)
        nodes.count(add(nodes, std::make_shared<const Search>(text), kAll));
    return Measured(std::move(nodes));
}

Measured filter_ports(size_t count)
{
    Nodes nodes;
    for (size_t port = 1000; port < 1000 + count; ++port)
        nodes.count(nodes.filter("udp port " + std::to_string(port), kAll));
    return Measured(std::move(nodes));
}

Measured count_flows(size_t count)
{
    Nodes nodes;
    const uint32_t udp = nodes.filter("udp", kAll);
    for (size_t flow = 0; flow < count; ++flow)
        nodes.count(udp); // the engine shares the filter
    return Measured(std::move(nodes));
}

Measured filter_one(bool has_probes)
{
    Nodes nodes;
    nodes.count(nodes.filter("udp port 1000", kAll));
    return Measured(std::move(nodes), has_probes);
}

// Probes that are off, in the smallest program with a filter.
void measure_probes(const Bytes &packet)
{
    const Measured with = filter_one(true), without = filter_one(false);
    std::vector<double> with_ns, without_ns, ratios;
    for (int pair = 0; pair < kPairs; ++pair) {
        without_ns.push_back(without.precise_ns(packet));
        with_ns.push_back(with.precise_ns(packet));
        ratios.push_back(with_ns.back() / without_ns.back());
    }
    bench::print(
        {"mapi_xdp_probes_off_ratio",
         bench::median(ratios),
         "ratio",
         {{"with_ns", bench::median(with_ns)}, {"without_ns", bench::median(without_ns)}},
         "time of a program of one port filter with probes that are off, relative to one without"},
        "at most", 1.05);
}

struct Compared {
    double one_ns, many_ns, ratio; // medians; ratio: one / many
};

Compared compare(const Measured &one, const Measured &many, const Bytes &packet)
{
    std::vector<double> ones, all, ratios;
    for (int round = 0; round < kRounds; ++round) {
        ones.push_back(one.ns(packet));
        all.push_back(many.ns(packet));
        ratios.push_back(ones.back() / all.back());
    }
    return {bench::median(ones), bench::median(all), bench::median(ratios)};
}

nlohmann::json raw_of(const Compared &compared)
{
    return {{"one_ns", compared.one_ns}, {"many_ns", compared.many_ns}};
}

void run()
{
    std::mt19937 random(9);
    Bytes text = test_support::udp_to(1250, 42);
    while (text.size() < kPacketBytes) {
        for (const char letter : word(random, 2 + random() % 9) + " ")
            text.push_back(uint8_t(letter));
    }
    text.resize(kPacketBytes);
    measure_probes(text);
    const Compared strings = compare(search_for(1), search_for(kStrings), text);
    bench::print({"mapi_xdp_1024_strings_ratio", strings.ratio, "ratio", raw_of(strings),
                  "packets/s in the kernel of 1,024 searches relative to one, 730 bytes of words"},
                 "at least", 0.5);
    const Compared ports = compare(filter_ports(1), filter_ports(kFlows), text);
    bench::print({"mapi_xdp_500_ports_program_ns", ports.many_ns, "ns", raw_of(ports),
                  "time of a program of 500 port filters; one_ns: of one"});
    const Compared flows = compare(count_flows(1), count_flows(1 + kFlows), text);
    bench::print({"mapi_xdp_one_more_flow_ns", (flows.many_ns - flows.one_ns) / double(kFlows),
                  "ns/packet", raw_of(flows),
                  "a flow with a filter and a counter that others have"},
                 "below", 0.3);
}
} // namespace

int main()
{
    try {
        run();
        return 0;
    } catch (const KernelRefusal &refusal) {
        std::cerr << refusal.what() << "\n";
        return refusal.number() == EPERM ? 77 : 1;
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
