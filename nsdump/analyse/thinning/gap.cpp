// SPDX-License-Identifier: MIT
// analyse: calibrated constants and what precedes the STARTs of a name -> what its pairs cost
// outside of their own slices.
#include "analyse/thinning/gap.hpp"

#include <algorithm>
#include <cmath>

namespace nsdump
{
namespace
{
constexpr double kCloseGaps = 1.5;
// If the mean distance to the previous record exceeds the gap by more, there is code in between. It
// does so only by the clock's step, or on a CPU with a smaller gap.
constexpr double kCodeShare = kCloseGaps - 1;

// Without code in between, the distance is the gap.  It exceeds the calibrated one because the
// previous probe's read overtakes the work before it, or the probe was compiled in another way, or
// the core is shared: or because of code in between after all, which the bound allows for.
GapConstant shown_gap(const GapConstants &gaps, double distance)
{
    GapConstant out = gaps.least_after_probe;
    out.bound += std::fabs(distance - out.value);
    out.value = distance;
    return out;
}

bool is_shown(const GapConstants &gaps, double distance)
{
    const double least = gaps.least_after_probe.value;
    return distance - least <= kCodeShare * std::fabs(least);
}

// With code in between, which hides a part of the probe that is not known.
GapConstant middle_gap(const GapConstants &gaps, double distance)
{
    GapConstant out = gaps.after_work;
    out.bound += 0.5 * std::fabs(distance - out.value);
    out.value = 0.5 * (distance + out.value);
    return out;
}

// Which part of a probe the code before it hides is not known: the calibration's work hides most.
// How much work the reads overtake is not known either.
GapConstant far_gap(const GapConstants &gaps)
{
    GapConstant out = gaps.after_work;
    out.bound += gaps.is_overtaking() ? std::fabs(gaps.after_overtaking.value - out.value)
                                      : 0.5 * std::fabs(gaps.after_probe.value - out.value);
    return out;
}

double slices_on(const std::vector<CpuSum> &cpus)
{
    double sum = 0;
    for (const CpuSum &cpu : cpus)
        sum += double(cpu.slices);
    return sum;
}
} // namespace

double close_limit(const Correction &correction, double step)
{
    double gap = 0;
    for (size_t cpu = 0; cpu < correction.cpus(); ++cpu)
        gap = std::max(gap, correction.gaps_of(cpu).after_overtaking.value);
    return kCloseGaps * gap + step;
}

bool is_overtaking(const std::vector<CpuSum> &cpus, const Correction &correction)
{
    return std::any_of(cpus.begin(), cpus.end(), [&](const CpuSum &cpu) {
        return correction.gaps_of(cpu.cpu_index).is_overtaking();
    });
}

ContextGap gap_in_context(const std::vector<CpuSum> &cpus, const Starts &starts,
                          const Correction &correction)
{
    ContextGap out;
    const double slices = slices_on(cpus);
    const double close = starts.count > 0 ? double(starts.close) / double(starts.count) : 0;
    const double own = starts.show_own_gap() ? double(starts.after_same) / double(starts.count) : 0;
    for (const CpuSum &cpu : cpus) {
        const GapConstants &gaps = correction.gaps_of(cpu.cpu_index);
        const double share = double(cpu.slices) / slices;
        const auto add = [&](const GapConstant &gap, double part, double ContextGap::*bound) {
            out.value += share * part * gap.value;
            out.ci95 += share * part * gap.ci95;
            out.*bound += share * part * gap.bound;
            out.degrees = std::min(out.degrees, gap.degrees);
        };
        const double shown = gaps.is_overtaking() ? own : close;
        add(far_gap(gaps), 1 - shown, &ContextGap::calibrated_bound);
        if (shown == 0)
            continue;
        const double distance =
            gaps.is_overtaking() ? starts.own_gap() : starts.mean_close_distance();
        if (gaps.is_overtaking() || is_shown(gaps, distance))
            add(shown_gap(gaps, distance), shown, &ContextGap::shown_bound);
        else
            add(middle_gap(gaps, distance), shown, &ContextGap::calibrated_bound);
    }
    return out;
}

FromCalibration calibrated_parts(const std::vector<CpuSum> &cpus, const Correction &correction,
                                 double behind)
{
    FromCalibration out;
    const double n = slices_on(cpus);
    for (const CpuSum &cpu : cpus) {
        const FieldConstants &constants = correction.of(cpu.cpu_index, 0);
        const double slices = double(cpu.slices) / n, inits = double(cpu.inits) / n,
                     exits = double(cpu.exits) / n;
        out.is_known = out.is_known && constants.is_known;
        out.inner += slices * (constants.inner + behind * constants.outer[kBehind]);
        out.units += inits * constants.outer[kInit] + exits * constants.outer[kExit];
        SubtractedError own = subtracted_error(1, {}, constants).times(slices * (1 - behind));
        own += subtracted_error(1, {}, constants, {0, ProgramCounts::kBehindParts})
                   .times(slices * behind);
        out.inner_errors.add(constants, own);
        out.unit_errors.add(
            constants,
            {{0, 0, inits * constants.outer_ci95[kInit], exits * constants.outer_ci95[kExit]},
             inits * constants.outer_bound[kInit] + exits * constants.outer_bound[kExit]});
    }
    return out;
}

double share_behind(const std::vector<Bucket> &buckets, const BpfCosts &bpf)
{
    double behind = 0, all = 0;
    for (const Bucket &bucket : buckets) {
        all += double(bucket.count);
        behind += double(bucket.count) * bpf.behind(bucket.sum / double(bucket.count));
    }
    return all > 0 ? behind / all / ProgramCounts::kBehindParts : 0;
}
} // namespace nsdump
