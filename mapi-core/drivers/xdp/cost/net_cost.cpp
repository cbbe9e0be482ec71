// SPDX-License-Identifier: MIT
// Test runs of a program and of an empty one -> what the program adds to a packet.
//
// A test run repeats the program between two readings of the clock and reports a mean in whole ns,
// rounded down.  Both programs run equally often, in turn, so that what the kernel adds to each run
// and to each call cancels out in the difference.
//
// For a repeated run the kernel enters the program into its dispatcher, and removes it afterwards,
// each with a grace period: a call takes 10 ms and more however few the runs are.  There is thus
// one call of each program for a packet, with many runs, and a limit to the time of all.
#include "drivers/xdp/cost/net_cost.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "drivers/xdp/code/code_writer.hpp"

namespace mapi::drivers::xdp
{
namespace
{
constexpr auto kTimeMost = std::chrono::seconds(3);
constexpr uint32_t kCallNs = 1000000; // of runs
constexpr uint32_t kRunsMax = 20000;
constexpr int kSingleRuns = 5; // to estimate the time of one; the first is slow

class EmptyWriter : private CodeWriter
{
public:
    explicit EmptyWriter(match::EbpfCode &code) : CodeWriter(Direction::kIncoming, code) {}
    void write() { leave(match::kXdpPass); }
};

struct PacketCost {
    double program_ns, empty_ns;
    uint64_t runs;
};

PacketCost measure(ProgramCopy &copy, int empty, const PacketBytes &packet)
{
    uint32_t once_ns = kCallNs;
    for (int i = 0; i < kSingleRuns; ++i)
        once_ns = std::min(once_ns, test_run(copy.descriptor(), packet).duration_ns);
    copy.clear_ring();
    const uint32_t most = std::min(kRunsMax, copy.runs_until_full(packet.size()));
    const uint32_t runs = std::clamp(kCallNs / std::max(once_ns, 1u), 1u, most);
    const uint32_t program_ns = test_run(copy.descriptor(), packet, runs).duration_ns;
    copy.clear_ring();
    return {double(program_ns), double(test_run(empty, packet, runs).duration_ns), runs};
}

// The value that about this share of the values are below.
double quantile(std::vector<double> values, double share)
{
    const auto at = size_t(std::lround(share * double(values.size() - 1)));
    std::nth_element(values.begin(), values.begin() + ptrdiff_t(at), values.end());
    return values[at];
}
} // namespace

ipc::Descriptor load_empty_program(bool takes_fragments)
{
    match::EbpfCode code;
    EmptyWriter(code).write();
    code.finish();
    return load_xdp_program("mapi_empty", code, takes_fragments);
}

mapi_cost_net measure_net_cost(ProgramCopy &copy, int empty,
                               const std::vector<PacketBytes> &packets,
                               const std::function<bool()> &is_over)
{
    mapi_cost_net cost = {};
    std::vector<double> program_ns, empty_ns, net_ns;
    const auto end = std::chrono::steady_clock::now() + kTimeMost;
    for (const PacketBytes &packet : packets) {
        if (is_over() || (!net_ns.empty() && std::chrono::steady_clock::now() > end))
            break;
        const PacketCost one = measure(copy, empty, packet);
        program_ns.push_back(one.program_ns);
        empty_ns.push_back(one.empty_ns);
        net_ns.push_back(one.program_ns - one.empty_ns);
        cost.runs += one.runs;
    }
    cost.packets = uint32_t(net_ns.size());
    if (cost.packets == 0)
        return cost;
    cost.program_ns = quantile(program_ns, 0.5);
    cost.empty_ns = quantile(empty_ns, 0.5);
    cost.net_ns = quantile(net_ns, 0.5);
    cost.net_p10_ns = quantile(net_ns, 0.1);
    cost.net_p90_ns = quantile(net_ns, 0.9);
    return cost;
}
} // namespace mapi::drivers::xdp
