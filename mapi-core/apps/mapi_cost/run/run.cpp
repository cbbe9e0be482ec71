// SPDX-License-Identifier: MIT
// run: one load -> its packets through libmapi, or calls of libmapi, under a session.
#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <nsprobe/probe.h>

#include "connected_flows.hpp"
#include "mapi_cost/source/mapi_handle.hpp"
#include "session.hpp"

namespace mapi_cost
{
// A live device's statistics -> packets received and lost.
namespace
{
struct Drop {
    const char *name;
    uint64_t mapi_stat::*count;
};

constexpr Drop kDrops[kDropCauses] = {
    {"kernel", &mapi_stat::drop_kernel},           {"interface", &mapi_stat::ps_ifdrop},
    {"buffer_full", &mapi_stat::drop_buffer_full}, {"link_type", &mapi_stat::drop_link_type},
    {"not_written", &mapi_stat::drop_not_written},
};
} // namespace

const char *drop_name(size_t cause)
{
    return kDrops[cause].name;
}

uint64_t Arrivals::dropped() const
{
    return std::accumulate(drops.begin(), drops.end(), uint64_t{0});
}

void Arrivals::add(const Arrivals &other)
{
    seconds += other.seconds;
    packets += other.packets;
    wire_bytes += other.wire_bytes;
    batches += other.batches;
    batched_packets += other.batched_packets;
    for (size_t i = 0; i < drops.size(); ++i)
        drops[i] += other.drops[i];
}

Arrivals arrivals_of(const mapi_stat_t &stats, double seconds)
{
    Arrivals arrivals;
    arrivals.seconds = seconds;
    arrivals.packets = stats.ps_recv;
    arrivals.wire_bytes = stats.bytes_recv;
    for (size_t i = 0; i < arrivals.drops.size(); ++i)
        arrivals.drops[i] = stats.*kDrops[i].count;
    return arrivals;
}

// Packets of a capture.
namespace
{
constexpr uint64_t kLeastRounds = 5; // so that a fifth can be trimmed at each end
constexpr uint64_t kPieces = 100;
constexpr uint64_t kRecordsPerUnit = 8; // in addition to two per function

// How often the workload is read, and which units are counted.
struct Plan {
    uint64_t rounds = 1;
    uint64_t units_per_round = 1;
    uint64_t step_every = 1;
    SumRequest request;
};

Plan plan_time(const Workload &workload, const RunSettings &settings)
{
    Plan plan;
    plan.units_per_round = (workload.packets + settings.batch_packets - 1) / settings.batch_packets;
    plan.rounds = (settings.packets + workload.packets - 1) / workload.packets;
    // A capture read only a few times has too few equal batches; it is cut into pieces that are all
    // compared with each other.
    if (plan.rounds >= kLeastRounds)
        plan.request.blocks_per_round = plan.units_per_round;
    else
        plan.request.units_per_block =
            std::max<uint64_t>(1, plan.rounds * plan.units_per_round / kPieces);
    return plan;
}

// Single-stepped: about `step_units` batches evenly spread over the capture, with more rounds if
// one would not give enough.  Other sources count everything that a time pass has.
Plan plan_instructions(const Load &load, const RunSettings &settings, bool stepped)
{
    Plan plan = plan_time(load.workload, settings);
    plan.request.field = Field::kInstructions;
    plan.request.first_unit = 2; // the first binds symbols, and flows connect during it
    if (!stepped)
        return plan;
    // Frames of one size give equal batches, and differences are taken over the same packets, so
    // fewer are enough.
    uint64_t wanted = settings.step_units;
    if (load.workload.is_uniform)
        wanted /= 3;
    if (load.is_compared)
        wanted /= 2;
    wanted = std::max<uint64_t>(2, wanted) * (MAPI_BATCH_MAX / settings.batch_packets);
    plan.request.units_per_block = plan.request.blocks_per_round = 1;
    plan.rounds = 1;
    if (plan.units_per_round <= wanted) {
        plan.rounds = 1 + (wanted + plan.units_per_round - 1) / plan.units_per_round;
        plan.request.first_unit = plan.units_per_round + 1;
    } else { // the first unit is stepped but not counted
        plan.step_every = (plan.units_per_round - 1) / wanted;
    }
    return plan;
}

Plan plan_of(const Load &load, Field field, const RunSettings &settings, const TempFolder &folder)
{
    return field == Field::kTicks
               ? plan_time(load.workload, settings)
               : plan_instructions(load, settings, is_stepped(settings.source, folder));
}

} // namespace

uint64_t records_per_unit(const Load &load)
{
    uint64_t records = kRecordsPerUnit;
    for (const auto &calls : load.flows)
        records += 2 * calls.size();
    return records;
}

Pass run_packets(const Load &load, Field field, const RunSettings &settings,
                 const TempFolder &folder)
{
    Plan plan = plan_of(load, field, settings, folder);
    plan.request.counted_slices = {"dispatch", "publish"};
    Session session(field, settings, plan.step_every,
                    plan.rounds * plan.units_per_round * records_per_unit(load), folder);
    Device device(load.workload.path, plan.rounds, settings.batch_packets);
    Pass pass;
    pass.bytes = load.workload.bytes;
    {
        ConnectedFlows flows(load, device.name());
        device.start();
        while (!flows.wait_a_little()) {
        }
        pass.reach = flows.reach();
        pass.lost_copies = device.stats().drop_buffer_full;
        device.expect_packets(plan.rounds * load.workload.packets);
    }
    pass.sums = sum_trace(session.close(), plan.request);
    return pass;
}

// Calls by this thread, with slices around them.
namespace
{
constexpr uint64_t kBufferBytes =
    3 << 20; // less than the size of TO_BUFFER, so nothing is dropped before it is read
constexpr uint64_t kMostCalls = 20'000;
constexpr uint64_t kCallsPerBlock = 64;
constexpr uint64_t kStepCallsPerUnit = 20; // a call is much shorter than a batch

void call_next_packet(int flow, int function, uint64_t calls)
{
    for (uint64_t number = 1; number <= calls; ++number) {
        NET_SLICE_INIT(call, number, 1, 0);
        NET_SLICE_START(mapi_get_next_pkt);
        mapi_get_next_pkt(flow, function);
        NET_SLICE_STOP(mapi_get_next_pkt);
        NET_SLICE_EXIT(call);
    }
}

void call_read_results(int flow, int function, uint64_t calls)
{
    for (uint64_t number = 1; number <= calls; ++number) {
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
    const uint64_t rounds =
        std::clamp<uint64_t>(kBufferBytes / std::max<uint64_t>(1, workload.buffer_bytes), 1,
                             (settings.packets + workload.packets - 1) / workload.packets);

    const uint64_t times = reads_packets ? rounds : 1;
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
    const uint64_t there = reads_packets ? info.pkts - info.dropped : kMostCalls;
    const uint64_t calls = std::min({there, settings.packets, kMostCalls});

    SumRequest request;
    request.field = field;
    request.counted_slices = {reads_packets ? "mapi_get_next_pkt" : "mapi_read_results"};
    request.first_unit = kWarmCalls + 1;
    uint64_t step_every = 1;
    if (field == Field::kTicks)
        request.units_per_block = kCallsPerBlock;
    else if (is_stepped(settings.source, folder))
        step_every = std::max<uint64_t>(1, calls / (settings.step_units * kStepCallsPerUnit));

    Pass pass;
    Session session(field, settings, step_every, calls * 4, folder);
    if (reads_packets)
        call_next_packet(flow.descriptor(), function, calls);
    else
        call_read_results(flow.descriptor(), function, calls);
    pass.sums = sum_trace(session.close(), request);
    return pass;
}

// A live device's packets, as they come.
namespace
{
constexpr uint64_t kBlocks =
    30; // few enough that similar consecutive batches share a block, yet enough for an interval

// Runs until enough packets have arrived.  Closing the flows discards the statistics, so they are
// read here.
void take_packets(const Load &load, const std::string &device, const RunSettings &settings,
                  Pass &pass)
{
    using Clock = std::chrono::steady_clock;
    ConnectedFlows flows(load, device);
    const auto begin = Clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    while (!flows.wait_a_little() && seconds() < double(settings.seconds) &&
           device_stats(device).ps_recv < settings.packets) {
    }
    pass.reach = flows.reach();
    const mapi_stat_t stats = device_stats(device);
    pass.arrivals = arrivals_of(stats, seconds());
    pass.remark = stats.message;
}

void note_batches(Arrivals &arrivals, const nsdump::StatsReport &report)
{
    for (const nsdump::UnitReport &unit : report.units) {
        arrivals.batches += unit.units;
        arrivals.batched_packets += unit.packets;
    }
}
} // namespace

Pass run_live(const Load &load, const std::string &device, Field field, uint64_t step_every,
              const RunSettings &settings, const TempFolder &folder)
{
    SumRequest request;
    request.field = field;
    request.counted_slices = {"dispatch", "publish"};
    Session session(field, settings, step_every, settings.packets * records_per_unit(load), folder);
    Pass pass;
    take_packets(load, device, settings, pass);
    request.packets = pass.arrivals->packets;
    if (field == Field::kInstructions) {
        request.first_unit = 2; // the first binds symbols, and flows connect during it
        request.packets = std::max<uint64_t>(1, request.packets) -
                          1; // the last unit may be unfinished: stepping takes long
    }
    pass.sums = sum_trace(session.close(), request);
    note_batches(*pass.arrivals, pass.sums.report);
    pool_blocks(pass.sums, kBlocks);
    pass.lost_copies = pass.arrivals->drops[kDropBufferFull];
    return pass;
}
} // namespace mapi_cost
