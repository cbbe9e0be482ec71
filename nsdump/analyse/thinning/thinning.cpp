// SPDX-License-Identifier: MIT
// analyse: a trace with epochs -> net values by random thinning in the report.
#include "analyse/thinning/thinning.hpp"

#include <map>

#include "analyse/thinning/combine.hpp"
#include "analyse/thinning/estimate.hpp"
#include "analyse/thinning/program_cost.hpp"

namespace nsdump
{
namespace
{
FieldReport *ticks_of(SliceReport &slice)
{
    return !slice.values.empty() && slice.values[0].field == "ticks" ? &slice.values[0] : nullptr;
}

ThinningReport counts_of(const NameTable &names, const ThinningCollector &slices)
{
    ThinningReport out;
    out.epochs = slices.epochs().size();
    out.reason = slices.epochs().refusal();
    out.distrusted_threads = slices.distrusted_threads();
    for (NameId name = 0; name < names.size(); ++name)
        if (const NameCells *const cells = slices.cells_of(name)) {
            out.slices += cells->accepted;
            for (size_t why = 0; why < out.left_out.size(); ++why)
                out.left_out[why] += cells->left_out[why];
        }
    return out;
}

// The shift of a slice without the shifts of the slices directly inside.
void shift_self(const NameCells &cells, const std::map<NameId, double> &shifts, double own,
                FieldReport &ticks)
{
    if (!ticks.self)
        return;
    double shift = own;
    for (const InsideSum &inside : cells.inside)
        if (const auto found = shifts.find(inside.name); found != shifts.end())
            shift -= found->second * double(inside.direct) / double(cells.nested);
    ticks.self->mean += shift;
    ticks.self->total += shift * double(ticks.count);
    if (ticks.per_packet && ticks.per_packet->self)
        *ticks.per_packet->self += shift * ticks.per_packet->slices;
}

double records_inside(const SliceThinning &thinning)
{
    double records = 0;
    for (const ThinnedCost &cost : thinning.costs)
        records += cost.per_slice;
    return records;
}
} // namespace

void Thinning::finish(const TraceFile &trace, const Correction &correction, StatsReport &report)
{
    slices_.finish();
    report.thinning = counts_of(trace.names(), slices_);
    if (!report.thinning->reason.empty())
        return;
    const ThinningEstimator estimator(trace.names(), slices_, correction, report.clock.step_ticks);
    report.thinning->units = program_costs(trace.names(), slices_, report.clock.hz);
    std::map<std::string, SliceReport *> slices;
    for (SliceReport &slice : report.slices)
        if (!slice.is_kernel)
            slices[slice.name] = &slice;
    std::map<NameId, double> shifts;
    for (NameId name = 0; name < trace.names().size(); ++name) {
        const auto slice = slices.find(trace.names()[name].text);
        FieldReport *const ticks = slice != slices.end() ? ticks_of(*slice->second) : nullptr;
        if (!ticks)
            continue;
        auto thinning = estimator.estimate(name);
        if (!thinning)
            continue;
        combine(*ticks, *thinning);
        shift_net(*ticks, *thinning);
        shifts[name] = thinning->shift;
        if (thinning->is_contradiction)
            report.warnings.push_back(contradiction_words(trace.names()[name].text, *thinning,
                                                          records_inside(*thinning)));
        slice->second->thinning = std::move(thinning);
    }
    for (NameId name = 0; name < trace.names().size(); ++name) {
        const NameCells *const cells = slices_.cells_of(name);
        const auto slice = slices.find(trace.names()[name].text);
        if (!cells || cells->nested == 0 || slice == slices.end())
            continue;
        const auto own = shifts.find(name);
        if (FieldReport *const ticks = ticks_of(*slice->second))
            shift_self(*cells, shifts, own != shifts.end() ? own->second : 0, *ticks);
    }
}
} // namespace nsdump
