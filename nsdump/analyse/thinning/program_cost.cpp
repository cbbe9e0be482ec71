// SPDX-License-Identifier: MIT
// analyse: units in epochs with all probes on and with most of them off -> what probes cost the
// program.
#include "analyse/thinning/program_cost.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyse/correct/uncertainty.hpp"
#include "analyse/thinning/estimate.hpp"

namespace nsdump
{
namespace
{
// Epochs of the processes that have these units, by what was off; each with its units.
std::map<uint32_t, std::vector<Cluster>> by_set(const EpochTable &epochs, const UnitEpochs &units)
{
    std::map<uint32_t, std::vector<Cluster>> out;
    auto next = units.epochs.begin();
    for (const EpochTable::Range &range : units.processes)
        for (uint32_t epoch = range.begin; epoch < range.end; ++epoch) {
            next = std::lower_bound(units.epochs.begin(), units.epochs.end(), epoch,
                                    [](const Cluster &one, uint32_t at) { return one.epoch < at; });
            const bool has_units = next != units.epochs.end() && next->epoch == epoch;
            if (const double ticks = epochs[epoch].ticks(); ticks > 0)
                out[epochs[epoch].set].push_back({epoch, ticks, has_units ? next->sum : 0});
        }
    return out;
}

Measured scaled(double value, double relative)
{
    return {value, std::fabs(value) * relative};
}

// A rate and its inverse have the same relative error.
void set_rates(const ClusteredMean &rate, double hz, Measured &per_second, Measured &ticks)
{
    const double relative = student_t95(rate.degrees) * rate.standard_error / rate.mean;
    per_second = scaled(rate.mean * hz, relative);
    ticks = scaled(1 / rate.mean, relative);
}
} // namespace

std::vector<ThinnedUnits> program_costs(const NameTable &names, const ThinningCollector &slices,
                                        double hz)
{
    std::vector<ThinnedUnits> out;
    for (NameId name = 0; name < names.size() && hz > 0; ++name) {
        const UnitEpochs *const units = slices.units_of(name);
        if (!units)
            continue;
        const auto sets = by_set(slices.epochs(), *units);
        const auto all_on = sets.find(0);
        auto widest = sets.end();
        for (auto set = sets.begin(); set != sets.end(); ++set)
            if (set->first != 0 && set->second.size() >= kLeastEpochs &&
                (widest == sets.end() || slices.epochs().names_of(set->first).size() >
                                             slices.epochs().names_of(widest->first).size()))
                widest = set;
        if (all_on == sets.end() || all_on->second.size() < kLeastEpochs || widest == sets.end())
            continue;
        const ClusteredMean on = clustered_mean(all_on->second),
                            off = clustered_mean(widest->second);
        if (!(on.mean > 0) || !(off.mean > 0))
            continue;
        ThinnedUnits one;
        one.name = names[name].text;
        one.epochs_on = on.clusters;
        one.epochs_off = off.clusters;
        set_rates(on, hz, one.per_second_on, one.ticks_on);
        set_rates(off, hz, one.per_second_off, one.ticks_off);
        Uncertainty relative;
        relative.add(on.standard_error / on.mean, on.degrees);
        relative.add(off.standard_error / off.mean, off.degrees);
        const double ratio = off.mean / on.mean;
        one.cost = {ratio - 1, ratio * relative.ci95()};
        out.push_back(one);
    }
    return out;
}
} // namespace nsdump
