// SPDX-License-Identifier: MIT
// A measurement: statistics of the attached program's runs, then test runs of a copy.
#include "drivers/xdp/cost/program_cost.hpp"

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <poll.h>

#include <mapi/explain.h>

#include "drivers/xdp/cost/packet_sample.hpp"
#include "drivers/xdp/cost/run_statistics.hpp"

namespace mapi::drivers::xdp
{
namespace
{
constexpr uint32_t kEmptyRuns = 100000;
constexpr size_t kEmptyPacketBytes = 64;

bool is_readable(int descriptor)
{
    pollfd event = {descriptor, POLLIN, 0};
    return descriptor >= 0 && poll(&event, 1, 0) > 0;
}

template <size_t kBytes> void explain(char (&to)[kBytes], const std::string &text)
{
    mapi_explain(to, kBytes, text.c_str());
}

// Test runs count, too.
void count_empty_runs(int empty, mapi_cost_runs &runs)
{
    const ProgramFacts before = facts_of(empty);
    test_run(empty, PacketBytes(kEmptyPacketBytes), kEmptyRuns);
    const ProgramFacts after = facts_of(empty);
    runs.empty_runs = after.runs - before.runs;
    runs.empty_run_ns = after.run_ns - before.run_ns;
}
} // namespace

ProgramCost::ProgramCost(const Program &program, const ProgramSetup &setup,
                         uint32_t interface_index, Attachment::Mode mode)
    : program_(fcntl(program.descriptor(), F_DUPFD_CLOEXEC, 0)), nodes_(program.tree()),
      setup_(setup), interface_index_(interface_index), mode_(mode)
{
    if (!program_.is_open())
        throw KernelRefusal("the program's descriptor cannot be copied", errno);
}

void ProgramCost::measure(mapi_driver_cost &cost)
{
    const ProgramFacts facts = facts_of(program_.number());
    cost.mode = mode_ == Attachment::Mode::kNative ? "native" : "generic";
    cost.functions = uint32_t(nodes_.nodes().size());
    cost.instructions = facts.instructions;
    cost.code_bytes = facts.code_bytes;
    const ipc::Descriptor empty = load_empty_program(setup_.takes_fragments);
    measure_runs(cost, empty.number());
    if (!*cost.net.missing)
        measure_net(cost, empty.number());
}

// Takes packets in the same time.
void ProgramCost::measure_runs(mapi_driver_cost &cost, int empty)
{
    std::optional<PacketSample> sample;
    std::optional<RunStatistics> statistics;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(cost.duration_ms);
    try {
        sample.emplace(interface_index_);
    } catch (const KernelRefusal &refusal) {
        explain(cost.net.missing, refusal.what());
    }
    try {
        statistics.emplace();
    } catch (const KernelRefusal &refusal) {
        explain(cost.live.missing, refusal.what());
    }
    const ProgramFacts before = facts_of(program_.number());
    const auto is_over = [&] { return is_readable(cost.stop); };
    if (sample)
        sample->take_until(end, is_over);
    else if (statistics)
        std::this_thread::sleep_until(end);
    const ProgramFacts after = facts_of(program_.number());
    if (sample)
        packets_ = sample->packets();
    if (!statistics)
        return;
    count_empty_runs(empty, cost.live);
    cost.live.runs = after.runs - before.runs;
    cost.live.run_ns = after.run_ns - before.run_ns;
    if (cost.live.runs == 0)
        explain(cost.live.missing, "no packet arrived during the measurement");
}

void ProgramCost::measure_net(mapi_driver_cost &cost, int empty)
{
    if (packets_.empty())
        return explain(cost.net.missing, why_no_packets());
    try {
        ProgramCopy copy(nodes_, setup_);
        cost.net = measure_net_cost(copy, empty, packets_, [&] { return is_readable(cost.stop); });
    } catch (const KernelRefusal &refusal) {
        explain(cost.net.missing, refusal.what());
    }
}

std::string ProgramCost::why_no_packets() const
{
    if (setup_.drops)
        return "the device drops all packets, so that none could be taken for test runs (drop=1)";
    return "no packet arrived during the measurement";
}
} // namespace mapi::drivers::xdp
