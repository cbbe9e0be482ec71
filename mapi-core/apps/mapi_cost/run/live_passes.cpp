// SPDX-License-Identifier: MIT
// live_passes: a scenario on a live device -> a pass.
#include "live_passes.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "common/command/output.hpp"
#include "mapi_cost/source/scenario_calls.hpp"
#include "mapi_handle.hpp"
#include "run_live.hpp"
#include "session.hpp"

namespace mapi_cost
{
namespace
{
bool can_be_live(const Scenario &scenario)
{
    return scenario.quantity == Quantity::kPacket && scenario.frame_bytes == 0;
}

// Spreads about as many packets as `step_units` full batches contain evenly over the pass, based on
// the time pass.  Packets arrive in bursts whose batches repeat; a distance without small divisors
// meets every position in such a pattern.
std::uint64_t step_every(const Arrivals &timed, const RunSettings &settings)
{
    const double units =
        double(settings.step_units) * MAPI_BATCH_MAX / std::max(1.0, timed.mean_batch());
    auto every = std::max<std::uint64_t>(1, std::uint64_t(double(timed.batches) / units));
    while (std::gcd(every, 2 * 3 * 5 * 7) != 1)
        ++every;
    return every;
}

// With a filter, which the kernel applies, having no packets is possible.  Without one, the other
// rows would have none either.
void expect_packets(const Results &results, const Scenario &scenario, const Arrivals &arrivals)
{
    if (results.live->timed.packets + arrivals.packets == 0 && !scenario.begins_with_filter())
        throw MapiError(fmt::format("{}: no packet arrived in {} s (check that it is the right "
                                    "interface and up (ip -s link shows the received "
                                    "packets), send packets to it, or wait longer with --duration)",
                                    results.survey.name, results.settings.seconds));
}
} // namespace

std::string keep_live(std::vector<Scenario> &scenarios, const std::vector<std::string> &asked_for)
{
    const auto gone = std::stable_partition(scenarios.begin(), scenarios.end(), can_be_live);
    std::string names;
    for (auto scenario = gone; scenario != scenarios.end(); ++scenario) {
        names += (names.empty() ? "" : ", ") + scenario->id;
        if (gone == scenarios.begin() ||
            std::count(asked_for.begin(), asked_for.end(), scenario->id) > 0)
            throw command::UsageError(
                fmt::format("--scenario {} cannot be measured on a live device (add --record to "
                            "record its packets first and "
                            "measure on these)",
                            scenario->id));
    }
    scenarios.erase(gone, scenarios.end());
    return names.empty()
               ? names
               : "Not measured on a live device (--record measures them on recorded packets): " +
                     names + ".";
}

MakePass live_passes(const Results &results, const TempFolder &folder)
{
    set_batch(results.survey.name, results.settings.batch_packets);
    const auto timed = std::make_shared<std::map<std::string, Arrivals>>(); // by scenario
    return [&results, &folder, timed](const Scenario &scenario, unsigned, Field field) {
        const RunSettings &settings = results.settings;
        const Load load{{}, {calls_of(scenario, 0, {results.survey.filter, ""})}};
        const bool is_sparse = field == Field::kInstructions && is_stepped(settings.source, folder);
        const std::uint64_t every = is_sparse ? step_every((*timed)[scenario.id], settings) : 1;
        Pass pass = run_live(load, results.survey.name, field, every, settings, folder);
        expect_packets(results, scenario, *pass.arrivals);
        if (field == Field::kTicks)
            (*timed)[scenario.id] = *pass.arrivals;
        return pass;
    };
}
} // namespace mapi_cost
