// SPDX-License-Identifier: MIT
// run_live: one load -> a live device's packets through libmapi, under a session.
#include "run_live.hpp"

#include <algorithm>
#include <chrono>

#include "connected_flows.hpp"
#include "mapi_handle.hpp"
#include "session.hpp"

namespace mapi_cost
{
namespace
{
constexpr std::uint64_t kBlocks =
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

Pass run_live(const Load &load, const std::string &device, Field field, std::uint64_t step_every,
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
        request.packets = std::max<std::uint64_t>(1, request.packets) -
                          1; // the last unit may be unfinished: stepping takes long
    }
    pass.sums = sum_trace(session.close(), request);
    note_batches(*pass.arrivals, pass.sums.report);
    pool_blocks(pass.sums, kBlocks);
    pass.lost_copies = pass.arrivals->drops[kDropBufferFull];
    return pass;
}
} // namespace mapi_cost
