// SPDX-License-Identifier: MIT
// analyse: a trace with epochs -> net values by random thinning in the report.
#include "analyse/thinning/thinning.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analyse/correct/kernel_rows.hpp"
#include "analyse/statistics/summarise.hpp"
#include "analyse/thinning/combine.hpp"
#include "analyse/thinning/estimate.hpp"
#include "analyse/thinning/program_cost.hpp"
#include "common/command/counted.hpp"

namespace nsdump
{
namespace
{
using command::counted;

FieldReport *ticks_of(SliceReport &slice)
{
    return !slice.values.empty() && slice.values[0].field == "ticks" ? slice.values.data()
                                                                     : nullptr;
}

std::map<std::string, SliceReport *> slices_by_name(StatsReport &report, bool are_kernel)
{
    std::map<std::string, SliceReport *> out;
    for (SliceReport &slice : report.slices)
        if (slice.is_kernel == are_kernel)
            out[slice.name] = &slice;
    return out;
}

void set_self(const std::optional<SelfValue> &self, FieldReport &ticks)
{
    ticks.self = self;
    if (!ticks.per_packet)
        return;
    PerPacket &packet = *ticks.per_packet;
    packet.self.reset();
    packet.self_ci95.reset();
    if (!self)
        return;
    packet.self = self->mean * packet.slices;
    if (self->ci95)
        packet.self_ci95 = *self->ci95 * packet.slices;
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
    // Self is that of slices with all probes on.
    const AllOn *const all_on = cells.all_on.get();
    double shift = own;
    for (const InsideSum &inside : all_on ? all_on->inside : cells.inside)
        if (const auto found = shifts.find(inside.name); found != shifts.end())
            shift -= found->second * double(inside.direct) /
                     double(all_on ? all_on->count : cells.nested);
    ticks.self->total *= 1 + shift / ticks.self->mean;
    ticks.self->mean += shift;
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

void Thinning::set_complete(const NameTable &names, StatsCollector &complete, StatsReport &report)
{
    const std::map<std::string, SliceReport *> slices =
        slices_by_name(report, epochs_.is_of_kernel());
    for (NameId name = 0; name < names.size(); ++name) {
        const auto found = slices.find(names[name].text);
        if (found == slices.end())
            continue;
        SliceReport &slice = *found->second;
        const bool has_any = complete.slice_stats(name) != nullptr;
        const auto stats = has_any ? complete.take(name) : std::make_unique<SliceStats>();
        if (FieldReport *const ticks = ticks_of(slice))
            set_self(summarise_field(stats->ticks, report.clock.step_ticks, false).self, *ticks);
        for (size_t i = 0; i < stats->counters.size(); ++i)
            slice.values.push_back(
                counter_report(stats->counters[i], counter_names(report)[i], true));
        slice.count += stats->stepped;
        slice.stepped = stats->stepped;
        slice.uncounted = stats->uncounted;
        report.classes.uncounted += stats->uncounted;
        report.classes.uncounted_kernel += slice.is_kernel ? stats->uncounted : 0;
        if (counter_names(report).empty() || epochs_.size() == 0)
            continue;
        const uint64_t all_on =
            stats->uncounted + (stats->counters.empty() ? 0 : stats->counters[0].count);
        all_on_ += all_on;
        not_all_on_ += slice.count - std::min(slice.count, all_on);
        if (all_on == 0 && slice.count > 0)
            report.warnings.push_back(fmt::format(
                "slice {} has times but no counts: each of its {} ran while probes inside others "
                "were off or may have been (record longer, or with a smaller --thin)",
                slice.name, counted(slice.count, "slice")));
    }
}

void Thinning::finish(const TraceFile &trace, const Correction &correction, StatsReport &report)
{
    ThinningReport found = counts_of(trace.names(), slices_);
    found.all_on = all_on_;
    found.not_all_on = not_all_on_;
    if (!is_used_)
        found.reason = "it is switched off";
    const bool is_good = found.reason.empty();
    const BpfCosts bpf =
        epochs_.is_of_kernel() ? bpf_costs(trace.kernel_calibrations()) : BpfCosts{};
    const ThinningEstimator estimator(trace.names(), slices_, correction, report.clock.step_ticks,
                                      bpf, found.reason);
    const std::map<std::string, SliceReport *> slices =
        slices_by_name(report, epochs_.is_of_kernel());
    std::map<NameId, double> shifts;
    for (NameId name = 0; name < trace.names().size(); ++name) {
        const auto slice = slices.find(trace.names()[name].text);
        FieldReport *const ticks = slice != slices.end() ? ticks_of(*slice->second) : nullptr;
        auto thinning = ticks ? estimator.estimate(name) : std::nullopt;
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
    for (const auto &[name, own] : shifts)
        shift_self(*slices_.cells_of(name), shifts, own,
                   *ticks_of(*slices.at(trace.names()[name].text)));
    if (is_good)
        found.units = program_costs(trace.names(), slices_, report.clock.hz);
    if (found.epochs > 0)
        (epochs_.is_of_kernel() ? report.program_thinning : report.thinning) = std::move(found);
}
} // namespace nsdump
