// SPDX-License-Identifier: MIT
// analyse: cells of random thinning and calibrated constants -> net values of slices;
// libnsprobe/CORRECTION.md derives the estimates.
#include "analyse/thinning/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "analyse/correct/interval.hpp"
#include "analyse/correct/subtract.hpp"
#include "analyse/report.hpp"
#include "analyse/thinning/gap.hpp"
#include "common/command/counted.hpp"

namespace nsdump
{
namespace
{
// Of a name's slices, the share that no epoch covers.  Long slices are more often among them.
constexpr double kMostStraddling = 0.1;

// The part of a variance that is left at least if the errors of a difference are correlated.
constexpr double kLeastVariance = 0.25;

double straddling_share(const NameCells &sums)
{
    const double straddling = double(sums.left_out[size_t(LeftOut::kStraddling)]);
    return straddling / (straddling + double(sums.accepted));
}

// Of a handler or program that interrupts it: such slices are cut off from the trimmed mean.
bool is_rare(const InsideSum &sum, const NameCells &sums)
{
    constexpr double kMostRare = 1e-3;
    return double(sum.pairs + sum.marks) < kMostRare * double(sums.nested);
}

bool contains(const std::vector<NameId> &names, NameId name)
{
    return std::binary_search(names.begin(), names.end(), name);
}

// Adds `factor` times the influence of each epoch on the mean of a part; the squares add up to the
// variance.
void add_influence(const PartMean &mean, const ClippedSums &part, double factor, Influence &out)
{
    double weights = 0;
    for (const Cluster &one : part.clusters())
        weights += one.weight;
    if (!(mean.clusters.standard_error > 0))
        return;
    const double scale = factor * mean.standard_error / mean.clusters.standard_error / weights;
    for (const Cluster &one : part.clusters())
        out[one.epoch] += scale * (one.sum - mean.clusters.mean * one.weight);
}

double covariance(const Influence &a, const Influence &b)
{
    double sum = 0;
    for (const auto &[epoch, value] : a)
        if (const auto found = b.find(epoch); found != b.end())
            sum += value * found->second;
    return sum;
}
} // namespace

ThinningEstimator::ThinningEstimator(const NameTable &names, ThinningCollector &slices,
                                     const Correction &correction, double step, const BpfCosts &bpf,
                                     std::string refusal)
    : names_(names), slices_(slices), correction_(correction), step_(step), bpf_(bpf),
      refusal_(std::move(refusal)), all_(names.size()), is_ever_off_(names.size())
{
    note_ever_off();
    for (NameId name = 0; name < names.size(); ++name)
        take_cells(name, slices);
    set_contexts();
}

void ThinningEstimator::note_ever_off()
{
    for (uint32_t set = 0; set < slices_.epochs().sets(); ++set)
        for (const NameId name : slices_.epochs().names_of(set))
            is_ever_off_[name] = true;
}

void ThinningEstimator::take_cells(NameId name, ThinningCollector &slices)
{
    Named &named = all_[name];
    named.sums = slices.cells_of(name);
    if (!named.sums)
        return;
    for (const InsideSum &sum : named.sums->inside)
        if (is_ever_off_[sum.name] || !is_rare(sum, *named.sums))
            named.inside.push_back(sum.name);
    std::sort(named.inside.begin(), named.inside.end());
    if (!refusal_.empty())
        return;
    slices.finish(name);
    merge_cells(named);
    slices.drop_cells(name);
    set_session_error(named);
    fit(named);
    // Epochs are only compared if it can be off, or something inside can.
    if (named.inside.empty() && !is_ever_off_[name])
        for (MergedCell &cell : named.cells)
            cell.cell.drop_clusters();
}

void ThinningEstimator::set_contexts()
{
    std::map<NameId, std::vector<Single>> singles;
    for (NameId around = 0; around < all_.size(); ++around)
        for (const FittedGroup &group : all_[around].fitted)
            if (group.unknowns.size() == 1)
                singles[all_[around].inside[group.unknowns[0]]].push_back({around, &group});
    for (const auto &[name, found] : singles)
        if (const auto cost = context_cost(name, found))
            in_context_[name] = *cost;
}

// Cells that differ only in names that are never inside belong together.
void ThinningEstimator::merge_cells(Named &named) const
{
    std::map<std::vector<NameId>, size_t> places;
    for (uint32_t set = 0; set < named.sums->cells.size(); ++set) {
        const Cell *const cell = named.sums->cells[set].get();
        if (!cell)
            continue;
        const auto off = slices_.epochs().names_of(set);
        std::vector<NameId> inside_off;
        std::set_intersection(off.begin(), off.end(), named.inside.begin(), named.inside.end(),
                              std::back_inserter(inside_off));
        const auto [place, is_new] = places.try_emplace(inside_off, named.cells.size());
        if (is_new)
            named.cells.push_back({inside_off, Cell(named.sums->reference, step_), {}, {}, 0});
        named.cells[place->second].cell.merge(*cell);
    }
    for (MergedCell &cell : named.cells) {
        set_means(cell);
        cell.cell.drop_buckets();
    }
}

void ThinningEstimator::set_means(MergedCell &cell) const
{
    cell.trimmed = mean_of(cell.cell, cell.cell.trimmed());
    cell.middle = mean_of(cell.cell, cell.cell.middle());
    cell.behind = share_behind(cell.cell.buckets(), bpf_);
}

// A trimmed mean's own error assumes independent slices; it is widened as much as dependence within
// epochs widens that of the mean of the clipped values.
PartMean ThinningEstimator::mean_of(const Cell &cell, const ClippedSums &part) const
{
    PartMean out;
    const TrimmedMean trimmed = trimmed_mean_of(cell.buckets(), part.share(), step_);
    const double independent = std::sqrt(part.variance(cell.count()) / double(cell.count()));
    out.clusters = clustered_mean(part.clusters(), independent);
    const double alike =
        independent > 0 ? std::max(1.0, out.clusters.standard_error / independent) : 1;
    const double t = student_t95(std::max(1.0, out.clusters.degrees));
    out.value = trimmed.mean;
    out.rounding_bound = trimmed.rounding_bound;
    out.standard_error =
        std::max(alike * trimmed.standard_error, rounding_ci95(step_, cell.count()) / t);
    return out;
}

// It cancels in differences between cells.
void ThinningEstimator::set_session_error(Named &named)
{
    std::vector<CellEpochs> cells;
    for (const MergedCell &cell : named.cells)
        cells.push_back({&cell.trimmed.clusters, &cell.cell.trimmed().clusters()});
    named.session_error = session_error(cells);
}

std::vector<FittedGroup> ThinningEstimator::fitted_means(const Named &named,
                                                         PartMean MergedCell::*part)
{
    std::vector<CellMean> means;
    for (const size_t at : named.fitted_cells) {
        const MergedCell &cell = named.cells[at];
        const PartMean &mean = cell.*part;
        means.push_back(
            {{}, mean.value, mean.standard_error, mean.clusters.degrees, mean.clusters.effective});
        for (const NameId name : named.inside)
            means.back().is_on.push_back(!contains(cell.off, name));
    }
    return fit_cells(means, named.inside.size());
}

void ThinningEstimator::fit(Named &named)
{
    for (size_t i = 0; i < named.cells.size(); ++i)
        if (named.cells[i].trimmed.clusters.clusters >= kLeastEpochs)
            named.fitted_cells.push_back(i);
    named.fitted = fitted_means(named, &MergedCell::trimmed);
    named.has_midmeans = may_use_midmeans(named.cells, named.inside);
    if (!named.has_midmeans) {
        for (MergedCell &cell : named.cells)
            cell.cell.drop_middle_clusters();
        return;
    }
    // With trimmed means, costs are too high: these contain short disturbances, which are trimmed
    // from the slices inside.  With midmeans they are too low: these do not even contain long ones,
    // which are in the slices inside.  Both fits have the same groups, since the weights are.
    const std::vector<FittedGroup> midmeans = fitted_means(named, &MergedCell::middle);
    for (size_t i = 0; i < named.fitted.size(); ++i) {
        FittedGroup &group = named.fitted[i];
        group.bound = std::fabs(group.sum - midmeans[i].sum) / 2;
        group.sum = (group.sum + midmeans[i].sum) / 2;
        // What the trimmed means scatter by in addition are disturbances, which are in the bound.
        group.error = midmeans[i].error;
    }
}

// Slices inside each other share most of their noise, so of those only the innermost is used, which
// has the least.  (To choose the smallest error would choose those that are small by chance.)
// Others are independent.
std::optional<ContextCost> ThinningEstimator::context_cost(NameId name,
                                                           const std::vector<Single> &singles) const
{
    struct One {
        NameId around;
        double value;
        Uncertainty error;
        double bound;
        const FittedGroup *group;
        double records;
    };
    std::vector<One> found;
    for (const auto &[around, group] : singles) {
        if (around == name || all_[around].sums->inside.find(name)->marks > 0)
            continue;
        const double records = records_per_slice(all_[around].cells, name);
        if (records > 0)
            found.push_back({around, group->sum / records, group->error.scaled(1 / records),
                             group->bound / records, group, records});
    }
    std::sort(found.begin(), found.end(), [&](const One &a, const One &b) {
        return all_[a.around].inside.size() < all_[b.around].inside.size();
    });
    std::vector<One> used;
    for (const One &one : found)
        if (std::none_of(used.begin(), used.end(), [&](const One &other) {
                return contains(all_[one.around].inside, other.around) ||
                       contains(all_[other.around].inside, one.around);
            }))
            used.push_back(one);
    if (used.empty())
        return std::nullopt;
    constexpr double kLeastError = 1e-9;
    double weights = 0;
    ContextCost out;
    for (const One &one : used) {
        const double weight = 1 / std::pow(std::max(one.error.ci95(), kLeastError), 2);
        weights += weight;
        out.value += weight * one.value;
    }
    out.value /= weights;
    double chi2 = 0;
    Uncertainty error;
    for (const One &one : used) {
        const double ci95 = std::max(one.error.ci95(), kLeastError);
        chi2 += std::pow(1.96 * (one.value - out.value) / ci95, 2);
        const double share = 1 / (ci95 * ci95) / weights;
        error.add_ci95(share * one.error.ci95(), one.error.degrees());
        out.bound += share * one.bound;
        const Named &around = all_[one.around];
        for (size_t i = 0; i < around.fitted_cells.size(); ++i) {
            const MergedCell &cell = around.cells[around.fitted_cells[i]];
            add_influence(around.fitted_mean(cell), around.fitted_sums(cell),
                          share * one.group->shares[i] / one.records, out.influence);
        }
    }
    // If contexts differ by more than their errors, so may those that were not measured.
    const double scatter =
        used.size() > 1 ? std::sqrt(std::max(1.0, chi2 / double(used.size() - 1))) : 1;
    out.error = error.scaled(scatter);
    return out;
}

// The cell in which everything inside was off; null with the reason if it is not usable.
const MergedCell *ThinningEstimator::bare_cell(NameId name, const Named &named,
                                               std::string &reason) const
{
    if (!refusal_.empty() || slices_.epochs().size() == 0) {
        reason = refusal_.empty() ? "the trace has no epochs" : refusal_;
        return nullptr;
    }
    if (named.inside.size() >= ThinningCollector::kMaxInside) {
        reason = fmt::format("more than {} names inside", ThinningCollector::kMaxInside - 1);
        return nullptr;
    }
    if (contains(named.inside, name)) {
        reason = "it contains itself, so that not everything inside can be off while it is on";
        return nullptr;
    }
    for (const NameId inside : named.inside)
        if (!is_ever_off_[inside]) {
            reason =
                fmt::format("{}, which is inside, was never switched off", names_[inside].text);
            return nullptr;
        }
    const double straddling = straddling_share(*named.sums);
    if (named.sums->accepted > 0 && straddling > kMostStraddling) {
        reason = fmt::format("{:.0f} % of its slices are not within one epoch: it is too long",
                             100 * straddling);
        return nullptr;
    }
    const auto bare =
        std::find_if(named.cells.begin(), named.cells.end(), [&](const MergedCell &cell) {
            return cell.off.size() == named.inside.size();
        });
    const size_t epochs = bare == named.cells.end() ? 0 : bare->trimmed.clusters.clusters;
    if (epochs >= kLeastEpochs)
        return &*bare;
    reason = fmt::format("{} in which everything inside was off; at least {} are required",
                         command::counted(epochs, "epoch"), kLeastEpochs);
    return nullptr;
}

// How much the cost in the context of the program counts, of the calibrated one and itself.  If
// they contradict each other, one of them is wrong: the calibrated one if the program shows the gap
// too.
double ThinningEstimator::context_weight(NameId name, const Measured &calibrated,
                                         const Measured &in_context) const
{
    const bool is_narrower = in_context.ci95 < calibrated.ci95;
    if (contradict(in_context, calibrated))
        return is_narrower || slices_.starts_of(name).show_gap() ? 1 : 0;
    // With nothing inside, the net values differ by this only, and are combined later.
    if (all_[name].inside.empty())
        return 1;
    const double both = std::pow(calibrated.ci95, 2) + std::pow(in_context.ci95, 2);
    return both > 0 ? std::pow(calibrated.ci95, 2) / both : 1;
}

// The slice's own reads: by calibration, and in the context of the program if that shows them.
void ThinningEstimator::set_inner(NameId name, const std::vector<CpuSum> &cpus, double behind,
                                  SliceThinning &out, Uncertainty &error, double &bound) const
{
    const FromCalibration parts = calibrated_parts(cpus, correction_, behind);
    const Uncertainty calibrated_error = parts.inner_errors.uncertainty();
    const double calibrated_bound = parts.inner_errors.bound();
    const Measured calibrated = {parts.inner, calibrated_error.ci95() + calibrated_bound};
    Uncertainty own_error = calibrated_error;
    double own_bound = calibrated_bound, weight = 0;
    out.inner = calibrated;
    out.is_overtaking = is_overtaking(cpus, correction_);
    if (const auto context = in_context_.find(name); context != in_context_.end()) {
        const ContextGap gap = gap_in_context(cpus, slices_.starts_of(name), correction_);
        Uncertainty context_error = context->second.error;
        context_error.add_ci95(gap.ci95, gap.degrees);
        const Measured in_context = {context->second.value - gap.value,
                                     context_error.ci95() + gap.bound() + context->second.bound};
        weight = out.is_overtaking && slices_.starts_of(name).show_own_gap()
                     ? 1
                     : context_weight(name, calibrated, in_context);
        own_error = calibrated_error.scaled(1 - weight);
        own_error.add(weight * context_error.standard_error(), context_error.degrees());
        // A gap that the program shows and the cost there are wrong for other reasons than the
        // calibrated reads.
        own_bound = std::hypot((1 - weight) * calibrated_bound + weight * gap.calibrated_bound,
                               weight * gap.shown_bound, weight * context->second.bound);
        out.inner = {(1 - weight) * calibrated.value + weight * in_context.value,
                     own_error.ci95() + own_bound};
    }
    out.inner_from = weight == 0   ? NetSource::kCalibration
                     : weight == 1 ? NetSource::kThinning
                                   : NetSource::kBoth;
    out.context_weight = weight;
    out.shared_bound = (1 - weight) * calibrated_bound;
    error.add(own_error.standard_error(), own_error.degrees());
    bound += own_bound;
}

void ThinningEstimator::set_net(NameId name, const Named &named, const MergedCell &bare,
                                SliceThinning &out) const
{
    const FromCalibration calibrated = calibrated_parts(bare.cell.cpus(), correction_, bare.behind);
    if (!calibrated.is_known) {
        out.reason = "there is no calibration";
        return;
    }
    Uncertainty error;
    double bound = bare.trimmed.rounding_bound;
    // Long slices straddle epochs more often.
    const double raw = bare.trimmed.value;
    if (raw > 0)
        bound +=
            straddling_share(*named.sums) * bare.cell.trimmed().variance(bare.cell.count()) / raw;
    error.add(bare.trimmed.standard_error, bare.trimmed.clusters.degrees);
    error.add(named.session_error, kTimeBlocks - 2);
    out.raw = {raw, error.ci95() + bound};
    set_inner(name, bare.cell.cpus(), bare.behind, out, error, bound);
    if (out.context_weight > 0) {
        // High load in the same epochs makes both raw and what a pair adds to others too large.
        // The covariance is a rough estimate, so only half of its effect counts.
        Influence influence;
        add_influence(bare.trimmed, bare.cell.trimmed(), 1, influence);
        const double shared =
            out.context_weight * covariance(influence, in_context_.at(name).influence);
        error = error.scaled(std::sqrt(std::max(kLeastVariance, 1 - shared / error.variance())));
    }
    if (named.inside.empty() && out.context_weight == 0) {
        out.reason = "nothing is inside it, and no slice around it shows what its own reads cost";
        return;
    }
    const Uncertainty units = calibrated.unit_errors.uncertainty();
    error.add(units.ci95() / student_t95(units.degrees()), units.degrees());
    bound += calibrated.unit_errors.bound();
    out.net = Measured{raw - out.inner.value - calibrated.units, error.ci95() + bound};
    out.epochs = bare.trimmed.clusters.clusters;
    out.slices = bare.cell.count();
}

ThinnedCost ThinningEstimator::cost_of(const Named &named, const std::vector<size_t> &places) const
{
    ThinnedCost out;
    double pairs = 0, marks = 0;
    const double nested = double(named.sums->nested);
    for (const size_t place : places) {
        const NameId name = named.inside[place];
        const InsideSum *const sum = named.sums->inside.find(name);
        out.name += (out.name.empty() ? "" : " + ") + names_[name].text;
        const double records = records_per_slice(named.cells, name);
        out.per_slice += records > 0 ? records : double(sum->pairs + sum->marks) / nested;
        pairs += double(sum->pairs);
        marks += double(sum->marks);
    }
    out.kind = marks == 0 ? "pair" : pairs == 0 ? "mark" : "mixed";
    for (const CpuSum &cpu : named.sums->cpus) {
        const FieldConstants &constants = correction_.of(cpu.cpu_index, 0);
        const double share = double(cpu.slices) / nested / (pairs + marks);
        for (const auto &[probe, count] : {std::pair(kPair, pairs), std::pair(kMark, marks)}) {
            out.calibrated.value += share * count * constants.outer[probe];
            out.calibrated.ci95 +=
                share * count * (constants.outer_ci95[probe] + constants.outer_bound[probe]);
        }
    }
    return out;
}

void ThinningEstimator::describe(const Named &named, SliceThinning &out) const
{
    std::vector<bool> is_done(named.inside.size());
    for (const FittedGroup &group : named.fitted) {
        ThinnedCost cost = cost_of(named, group.unknowns);
        if (cost.per_slice > 0)
            cost.per_record = Measured{group.sum / cost.per_slice,
                                       (group.error.ci95() + group.bound) / cost.per_slice};
        out.costs.push_back(std::move(cost));
        for (const size_t place : group.unknowns)
            is_done[place] = true;
    }
    for (size_t place = 0; place < is_done.size(); ++place)
        if (!is_done[place])
            out.costs.push_back(cost_of(named, {place}));
    for (const MergedCell &cell : named.cells) {
        const PartMean &trimmed = cell.trimmed;
        const double ci95 = student_t95(trimmed.clusters.degrees) * trimmed.standard_error;
        out.cells.push_back({{},
                             cell.cell.count(),
                             trimmed.clusters.clusters,
                             cell.cell.mean(),
                             {trimmed.value, ci95}});
        for (const NameId name : cell.off)
            out.cells.back().off.push_back(names_[name].text);
    }
}

std::optional<SliceThinning> ThinningEstimator::estimate(NameId name) const
{
    const Named &named = all_[name];
    if (!named.sums || named.sums->nested == 0)
        return std::nullopt;
    SliceThinning out;
    Uncertainty error;
    double bound = 0;
    set_inner(name, named.sums->cpus, 0, out, error, bound);
    for (const CpuSum &cpu : named.sums->cpus) {
        out.inits += double(cpu.inits) / double(named.sums->nested);
        out.exits += double(cpu.exits) / double(named.sums->nested);
    }
    if (const MergedCell *const bare = bare_cell(name, named, out.reason))
        set_net(name, named, *bare, out);
    describe(named, out);
    return out;
}
} // namespace nsdump
