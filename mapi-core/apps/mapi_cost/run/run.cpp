// SPDX-License-Identifier: MIT
// run: one load -> its packets through libmapi, under a session.
#include "run.hpp"

#include <algorithm>

#include "connected_flows.hpp"
#include "session.hpp"

namespace mapi_cost
{
namespace
{
constexpr std::uint64_t kLeastRounds = 5; // so that a fifth can be trimmed at each end
constexpr std::uint64_t kPieces = 100;
constexpr std::uint64_t kRecordsPerUnit = 8; // in addition to two per function

// How often the workload is read, and which units are counted.
struct Plan {
    std::uint64_t rounds = 1;
    std::uint64_t units_per_round = 1;
    std::uint64_t step_every = 1;
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
            std::max<std::uint64_t>(1, plan.rounds * plan.units_per_round / kPieces);
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
    std::uint64_t wanted = settings.step_units;
    if (load.workload.is_uniform)
        wanted /= 3;
    if (load.is_compared)
        wanted /= 2;
    wanted = std::max<std::uint64_t>(2, wanted) * (MAPI_BATCH_MAX / settings.batch_packets);
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

std::uint64_t records_per_unit(const Load &load)
{
    std::uint64_t records = kRecordsPerUnit;
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
} // namespace mapi_cost
