// SPDX-License-Identifier: MIT
// thinned: nsdump's report on a pass with random thinning -> cost of the probes inside slices.
#include "thinned.hpp"

#include <algorithm>
#include <cmath>

#include "analyse/thinning/estimate.hpp"

namespace mapi_cost
{
namespace
{
using nsdump::Measured;

constexpr double kNormal95 = 1.96; // standard deviations in a 95 % interval

const nsdump::ThinnedCell *cell_of(const nsdump::SliceThinning &thinning, size_t names_off)
{
    const auto found =
        std::find_if(thinning.cells.begin(), thinning.cells.end(),
                     [&](const nsdump::ThinnedCell &cell) { return cell.off.size() == names_off; });
    return found != thinning.cells.end() && found->epochs >= nsdump::kLeastEpochs ? &*found
                                                                                  : nullptr;
}

// Number of names inside a slice; those that are always off together share a cost.
size_t most_off(const nsdump::SliceThinning &thinning)
{
    size_t most = 0;
    for (const nsdump::ThinnedCell &cell : thinning.cells)
        most = std::max(most, cell.off.size());
    return most;
}

Measured calibrated_inside(const nsdump::SliceThinning &thinning)
{
    Measured sum;
    for (const nsdump::ThinnedCost &cost : thinning.costs) {
        sum.value += cost.per_slice * cost.calibrated.value;
        sum.ci95 += cost.per_slice * cost.calibrated.ci95;
    }
    return sum;
}

Measured combined(const Measured &thinned, const Measured &calibrated)
{
    const double squares = thinned.ci95 * thinned.ci95 + calibrated.ci95 * calibrated.ci95;
    if (std::fabs(thinned.value - calibrated.value) > std::sqrt(squares) || !(squares > 0))
        return thinned;
    const double weight = calibrated.ci95 * calibrated.ci95 / squares;
    return {weight * thinned.value + (1 - weight) * calibrated.value,
            std::hypot(weight * thinned.ci95, (1 - weight) * calibrated.ci95)};
}
} // namespace

InsideFactors inside_factors(const nsdump::StatsReport &report,
                             const std::vector<std::string> &slices)
{
    InsideFactors factors;
    for (const nsdump::SliceReport &slice : report.slices) {
        if (!slice.thinning || !slice.thinning->net || slice.thinning->costs.empty() ||
            std::count(slices.begin(), slices.end(), slice.name) == 0)
            continue;
        const nsdump::SliceThinning &thinning = *slice.thinning;
        const nsdump::ThinnedCell *const on = cell_of(thinning, 0), *const off =
                                                                        cell_of(thinning,
                                                                                most_off(thinning));
        const Measured calibrated = calibrated_inside(thinning);
        if (!on || !off || on == off || !(calibrated.value > 0))
            continue;
        const Measured thinned = {on->trimmed_mean.value - off->trimmed_mean.value,
                                  std::hypot(on->trimmed_mean.ci95, off->trimmed_mean.ci95)};
        const Measured both = combined(thinned, calibrated);
        factors[slice.name] = {both.value / calibrated.value, both.ci95 / calibrated.value};
    }
    return factors;
}

std::optional<ProgramCost> program_cost(const nsdump::StatsReport &report)
{
    if (!report.thinning || report.thinning->units.empty())
        return std::nullopt;
    const nsdump::ThinnedUnits &units = report.thinning->units.front();
    return ProgramCost{units.ticks_on, units.ticks_off};
}

std::optional<Measured> slowdown(const std::vector<ProgramCost> &loads)
{
    double weights = 0, sum = 0, squares = 0, counted = 0;
    for (const ProgramCost &load : loads) {
        const double ratio = load.on.value / load.off.value;
        const double ci95 =
            ratio * std::hypot(load.on.ci95 / load.on.value, load.off.ci95 / load.off.value);
        if (!(ci95 > 0))
            continue;
        const double weight = 1 / (ci95 * ci95);
        weights += weight;
        sum += weight * (ratio - 1);
        squares += weight * (ratio - 1) * (ratio - 1);
        ++counted;
    }
    if (!(weights > 0))
        return std::nullopt;
    const double mean = sum / weights;
    // Loads that differ by more than their intervals widen the interval of the mean: the scale
    // factor of the Particle Data Group, in units of 95 % intervals.
    const double spread =
        counted > 1 ? (squares - mean * sum) / (counted - 1) * kNormal95 * kNormal95 : 1;
    return Measured{mean, std::sqrt(std::max(1.0, spread) / weights)};
}
} // namespace mapi_cost
