// SPDX-License-Identifier: MIT
// run_calls: one load -> calls of libmapi by this thread, with slices around them.
#include "run.hpp"

#include <algorithm>

#include <nsprobe/probe.h>

#include "interrupt.hpp"
#include "session.hpp"

namespace mapi_cost
{
namespace
{
constexpr std::uint64_t kBufferBytes =
    3 << 20; // less than the size of TO_BUFFER, so nothing is dropped before it is read
constexpr std::uint64_t kMostCalls = 20'000;
constexpr std::uint64_t kCallsPerBlock = 64;
constexpr std::uint64_t kStepCallsPerUnit = 20; // a call is much shorter than a batch

void call_next_packet(int flow, int function, std::uint64_t calls)
{
    for (std::uint64_t number = 1; number <= calls; ++number) {
        NET_SLICE_INIT(call, number, 1, 0);
        NET_SLICE_START(mapi_get_next_pkt);
        mapi_get_next_pkt(flow, function);
        NET_SLICE_STOP(mapi_get_next_pkt);
        NET_SLICE_EXIT(call);
    }
}

void call_read_results(int flow, int function, std::uint64_t calls)
{
    for (std::uint64_t number = 1; number <= calls; ++number) {
        NET_SLICE_INIT(call, number, 1, 0);
        NET_SLICE_START(mapi_read_results);
        mapi_read_results(flow, function);
        NET_SLICE_STOP(mapi_read_results);
        NET_SLICE_EXIT(call);
    }
}
} // namespace

Pass run_calls(const Load &load, Quantity quantity, Field field, const RunSettings &settings,
               const TempFolder &folder)
{
    const bool reads_packets = quantity == Quantity::kNextPacket;
    const Workload &workload = load.workload;
    const std::uint64_t rounds =
        std::clamp<std::uint64_t>(kBufferBytes / std::max<std::uint64_t>(1, workload.buffer_bytes),
                                  1, (settings.packets + workload.packets - 1) / workload.packets);

    const std::uint64_t times = reads_packets ? rounds : 1;
    Device device(workload.path, times, settings.batch_packets);
    Flow flow(device);
    int function = 0;
    for (const Call &call : load.flows.at(0))
        function = flow.apply(call);
    flow.connect();
    device.start();
    while (!flow.wait(100))
        stop_if_interrupted();
    device.expect_packets(times * workload.packets);
    const mapi_function_info_t info = flow.describe(function);
    const std::uint64_t there = reads_packets ? info.pkts - info.dropped : kMostCalls;
    const std::uint64_t calls = std::min({there, settings.packets, kMostCalls});

    SumRequest request;
    request.field = field;
    request.counted_slices = {reads_packets ? "mapi_get_next_pkt" : "mapi_read_results"};
    request.first_unit = kWarmCalls + 1;
    std::uint64_t step_every = 1;
    if (field == Field::kTicks)
        request.units_per_block = kCallsPerBlock;
    else if (is_stepped(settings.source, folder))
        step_every = std::max<std::uint64_t>(1, calls / (settings.step_units * kStepCallsPerUnit));

    Pass pass;
    Session session(field, settings, step_every, calls * 4, folder);
    if (reads_packets)
        call_next_packet(flow.descriptor(), function, calls);
    else
        call_read_results(flow.descriptor(), function, calls);
    pass.sums = sum_trace(session.close(), request);
    return pass;
}
} // namespace mapi_cost
