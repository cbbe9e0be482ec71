// SPDX-License-Identifier: MIT
// run: one load -> its packets through libmapi, or calls of libmapi, under a session.
#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <nsprobe/probe.h>

#include "analyse/analyse.hpp"
#include "connected_flows.hpp"
#include "mapi_cost/source/mapi_handle.hpp"
#include "session.hpp"

namespace mapi_cost
{
const std::vector<std::string> kPacketSlices = {"dispatch", "publish"};

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
constexpr uint64_t kBufferMemoryBytes = 4 << 20; // of TO_BUFFER
constexpr uint64_t kRecordsPerUnit = 8;          // in addition to two per function

// How often the workload is read, and which units are counted.
struct Plan {
    uint64_t rounds = 1;
    uint64_t units_per_round = 1;
    uint64_t step_every = 1;
    SumRequest request;
};

Plan plan_of(const Workload &workload, uint64_t packets, unsigned batch_packets)
{
    Plan plan;
    plan.units_per_round = (workload.packets + batch_packets - 1) / batch_packets;
    plan.rounds = (packets + workload.packets - 1) / workload.packets;
    plan.request.counted_slices = kPacketSlices;
    return plan;
}

// A capture read only a few times has too few equal batches; it is cut into pieces that are all
// compared with each other.
void set_blocks(Plan &plan)
{
    if (plan.rounds >= kLeastRounds)
        plan.request.blocks_per_round = plan.units_per_round;
    else
        plan.request.units_per_block =
            std::max<uint64_t>(1, plan.rounds * plan.units_per_round / kPieces);
}

bool has_buffer(const Load &load)
{
    return std::any_of(load.flows.begin(), load.flows.end(), [](const std::vector<Call> &calls) {
        return std::any_of(calls.begin(), calls.end(),
                           [](const Call &call) { return call.function == "TO_BUFFER"; });
    });
}

// Rounds that are not counted: they fill the caches, and TO_BUFFER touches each page of its memory
// for the first time, which costs more than all that it does later.
uint64_t warm_rounds(const Load &load)
{
    const uint64_t bytes = std::max<uint64_t>(1, load.workload.buffer_bytes);
    return has_buffer(load) ? 1 + (kBufferMemoryBytes + bytes - 1) / bytes : 1;
}

// Of the packets, a share in each pass.
Plan plan_time(const Load &load, const RunSettings &settings)
{
    const uint64_t packets = (settings.packets + kTimedPasses - 1) / kTimedPasses;
    Plan plan = plan_of(load.workload, packets, settings.batch_packets);
    set_blocks(plan);
    if (plan.rounds >= kLeastRounds) {
        const uint64_t warm = warm_rounds(load);
        plan.rounds += warm;
        plan.request.first_unit = warm * plan.units_per_round + 1;
    }
    return plan;
}

// Single-stepped: about `step_units` batches evenly spread over the capture, with more rounds if
// one would not give enough.  Other sources count everything that a time pass has.
Plan plan_instructions(const Load &load, const RunSettings &settings, bool stepped)
{
    Plan plan = plan_of(load.workload, settings.packets, settings.batch_packets);
    set_blocks(plan);
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

} // namespace

uint64_t records_per_unit(const Load &load)
{
    uint64_t records = kRecordsPerUnit;
    for (const auto &calls : load.flows)
        records += 2 * calls.size();
    return records;
}

namespace
{
uint64_t records_of(const Load &load, const Plan &plan)
{
    return plan.rounds * plan.units_per_round * records_per_unit(load);
}

// Without its sums.
Pass run_packets(const Load &load, const Plan &plan, const RunSettings &settings)
{
    Device device(load.workload.path, plan.rounds, settings.batch_packets);
    Pass pass;
    pass.bytes = load.workload.bytes;
    pass.batch_share =
        double(plan.units_per_round * settings.batch_packets) / double(load.workload.packets);
    ConnectedFlows flows(load, device.name());
    device.start();
    while (!flows.wait_a_little()) {
    }
    pass.reach = flows.reach();
    pass.lost_copies = device.stats().drop_buffer_full;
    device.expect_packets(plan.rounds * load.workload.packets);
    return pass;
}
} // namespace

Pass run_counted(const Load &load, const RunSettings &settings, const TempFolder &folder)
{
    const Plan plan = plan_instructions(load, settings, is_stepped(settings.source, folder));
    Session session({Field::kInstructions, plan.step_every, records_of(load, plan), false},
                    settings, folder);
    Pass pass = run_packets(load, plan, settings);
    pass.sums = sum_trace(session.close(), plan.request);
    return pass;
}

std::vector<Pass> run_timed(const std::vector<TimedRun> &runs, const RunSettings &settings,
                            const TempFolder &folder)
{
    std::vector<Plan> plans;
    std::vector<SumRequest> requests;
    uint64_t records = 0;
    for (const TimedRun &run : runs) {
        plans.push_back(plan_time(*run.load, settings));
        plans.back().request.inside = run.inside;
        requests.push_back(plans.back().request);
        records += records_of(*run.load, plans.back());
    }
    Session session({Field::kTicks, 1, records, false}, settings, folder);
    std::vector<Pass> passes;
    for (size_t i = 0; i < runs.size(); ++i)
        passes.push_back(run_packets(*runs[i].load, plans[i], settings));
    std::vector<TraceSums> sums = sum_passes(session.close(), requests);
    for (size_t i = 0; i < runs.size(); ++i)
        passes[i].sums = std::move(sums[i]);
    return passes;
}

// With random thinning: not a cost, but what the probes in it cost.
namespace
{
using Clock = std::chrono::steady_clock;
// All probes are on at first, and 8 epochs of about 1 ms are required with all inside slices off.
constexpr std::chrono::milliseconds kThinnedTime{250};
constexpr uint64_t kThinnedRecords = 4 << 20; // 64 MiB
} // namespace

nsdump::StatsReport run_thinned(const Load &load, const RunSettings &settings,
                                const TempFolder &folder)
{
    const uint64_t packets = kThinnedRecords / records_per_unit(load) * settings.batch_packets;
    Session session({Field::kTicks, 1, kThinnedRecords, true}, settings, folder);
    { // ends before the session, whose closing would lose records of a device that still reads
        Device device(load.workload.path, std::max<uint64_t>(1, packets / load.workload.packets),
                      settings.batch_packets);
        ConnectedFlows flows(load, device.name());
        device.start();
        for (const auto end = Clock::now() + kThinnedTime;
             !flows.wait_a_little() && Clock::now() < end;) {
        }
    }
    nsdump::AnalyseOptions options;
    options.keeps_histograms = false;
    return nsdump::analyse_trace(session.close(), options);
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
    Session session({field, step_every, calls * 4, false}, settings, folder);
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
    if (*stats.remark)
        pass.remark += (pass.remark.empty() ? "" : "; ") + std::string(stats.remark);
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
    request.counted_slices = kPacketSlices;
    Session session({field, step_every, settings.packets * records_per_unit(load), false}, settings,
                    folder);
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
