// SPDX-License-Identifier: MIT
// analyse: slice + constants -> net values, with the cost of the probes subtracted.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <map>

#include "analyse/correct/correction.hpp"
#include "analyse/correct/uncertainty.hpp"
#include "analyse/pair/slice.hpp"

namespace nsdump
{
// The cost that the probes inside a slice added to it.  START and STOP are the same instructions,
// so each costs half of the pair.
template <class Counts>
double outer_sum(const Counts &inside, const std::array<double, kProbes> &outer)
{
    return 0.5 * double(inside.ends) * outer[kPair] + double(inside.marks) * outer[kMark] +
           double(inside.inits) * outer[kInit] + double(inside.exits) * outer[kExit];
}

// What their BPF programs add to the cost of probes.
inline double program_sum(const ProgramCounts &programs, const std::array<double, kProbes> &outer)
{
    return programs.calls * outer[kCall] + programs.records_behind() * outer[kBehind];
}

// net = raw - inner - sum over the probes completed inside of their outer cost.  Never clamped: a
// negative value means that the slice is shorter than the noise.
inline double net_of(double raw, const ProbeCounts &inside, const FieldConstants &constants,
                     const ProgramCounts &programs = {})
{
    return raw - constants.inner - outer_sum(inside, constants.outer) -
           program_sum(programs, constants.outer);
}

// Net without the slices inside.  Subtracting their net values adds back one inner constant for
// each of them, and the outer constants of the probes inside them.
struct SelfInside {
    ProbeCounts own;
    uint32_t children = 0;
    ProgramCounts programs = {};

    double inners() const { return 1.0 - children; }
};
inline double self_subtracted(const SelfInside &inside, const FieldConstants &constants)
{
    return inside.inners() * constants.inner + outer_sum(inside.own, constants.outer) +
           program_sum(inside.programs, constants.outer);
}

// The time that interruptions added to the slice around them.  `raw` is their own reading; the
// inner cost that each interrupt includes is already part of the outer cost of its pair.
inline double taken_of(const Interruptions &what, double raw, const FieldConstants &kernel)
{
    return raw + outer_sum(what.probes, kernel.outer) + program_sum(what.programs, kernel.outer) -
           what.interrupts * kernel.inner;
}
inline double taken_ticks(const Interruptions &what, const FieldConstants &kernel)
{
    return taken_of(what, double(what.ticks), kernel);
}

// What slices that are not recorded by macros cost: their records inside of the slice, and instead
// of the inner constant of macros, which is subtracted from each slice, that of their way.
inline double way_cost(const WayCounts &counts, const WayTable &table, double macro_inner)
{
    double sum = 0;
    for (unsigned way = 0; way < kWays; ++way)
        sum += 0.5 * counts.ends[way] * table.ways[way].outer +
               counts.slices[way] * (table.ways[way].inner - macro_inner);
    return sum;
}

// 95 % half widths of the amounts subtracted from slices that share their constants.  Since the
// constants are the same for every slice, each part grows linearly with the number of slices; the
// parts are independent of each other.
struct SubtractedError {
    // By probe.  START + STOP includes both inner and outer: they were measured in the same
    // batches, so their errors are correlated.
    std::array<double, kProbes> ci95{};
    double bound = 0; // from the bounds of FieldConstants; common to all probes

    SubtractedError &operator+=(const SubtractedError &other)
    {
        for (unsigned probe = 0; probe < kProbes; ++probe)
            ci95[probe] += other.ci95[probe];
        bound += other.bound;
        return *this;
    }
    SubtractedError times(double n) const
    {
        SubtractedError product = *this;
        for (double &one : product.ci95)
            one *= n;
        product.bound *= n;
        return product;
    }
};

// Error of `inners` times the inner constant plus the outer constants of the probes.  For probes
// with the call of their program or right behind another one, work hides nothing.
inline SubtractedError subtracted_error(double inners, const ProbeCounts &probes,
                                        const FieldConstants &constants,
                                        const ProgramCounts &programs = {})
{
    const double alone = programs.calls + programs.records_behind();
    const double bound = inners * constants.inner_bound + outer_sum(probes, constants.outer_bound) -
                         alone * std::fabs(constants.outer[kBehind]);
    return {{inners * constants.inner_ci95 + 0.5 * probes.ends * constants.outer_ci95[kPair],
             probes.marks * constants.outer_ci95[kMark], probes.inits * constants.outer_ci95[kInit],
             probes.exits * constants.outer_ci95[kExit],
             programs.calls * constants.outer_ci95[kCall],
             programs.records_behind() * constants.outer_ci95[kBehind]},
            std::fmax(bound, 0) + program_sum(programs, constants.outer_bound)};
}

// Errors of a sum over slices, by FieldConstants::source: each source was measured independently.
class SubtractedErrors
{
public:
    void add(const FieldConstants &constants, const SubtractedError &error)
    {
        if (!last_ || last_id_ != constants.source) {
            last_ = &by_source_[constants.source];
            last_id_ = constants.source;
        }
        last_->error += error;
        last_->degrees = constants.degrees;
    }
    void merge(const SubtractedErrors &other)
    {
        for (const auto &[id, source] : other.by_source_) {
            Source &sum = by_source_[id];
            sum.error += source.error;
            sum.degrees = source.degrees;
        }
    }
    // Prefetches what add() needs of its last source.
    void prefetch() const
    {
        if (last_)
            for (size_t at = 0; at < sizeof(Source); at += 64)
                __builtin_prefetch(reinterpret_cast<const char *>(last_) + at, 1);
    }
    SubtractedErrors() = default;
    SubtractedErrors(SubtractedErrors &&) = default; // map nodes do not move, so last_ stays valid
    SubtractedErrors &operator=(SubtractedErrors &&) = default;
    Uncertainty uncertainty() const
    {
        Uncertainty out;
        for (const auto &[id, source] : by_source_)
            for (unsigned probe = 0; probe < kProbes; ++probe)
                out.add_ci95(source.error.ci95[probe], source.degrees[probe]);
        return out;
    }
    double bound() const
    {
        double sum = 0;
        for (const auto &[id, source] : by_source_)
            sum += source.error.bound;
        return sum;
    }

private:
    struct Source {
        SubtractedError error;
        std::array<double, kProbes> degrees{};
    };
    std::map<uint32_t, Source> by_source_; // only those in use, to save memory
    Source *last_ = nullptr;
    uint32_t last_id_ = 0;
};

// Errors of way_cost(), each way from a source of its own.
inline void add_way_errors(SubtractedErrors &errors, const WayCounts &counts, const WayTable &table)
{
    for (unsigned way = 0; way < kWays; ++way) {
        if (counts.ends[way] == 0 && counts.slices[way] == 0)
            continue;
        const WayConstants &one = table.ways[way];
        const double ends = std::fabs(counts.ends[way]), slices = std::fabs(counts.slices[way]);
        FieldConstants source;
        source.source = table.source * kWays + way;
        source.degrees[kPair] = one.degrees;
        SubtractedError error;
        error.ci95[kPair] = slices * one.inner_ci95 + 0.5 * ends * one.outer_ci95;
        error.bound = slices * one.inner_bound + 0.5 * ends * one.outer_bound;
        errors.add(source, error);
    }
}

// The error of one slice's correction: half width of an interval, and a bound that is added to it.
struct SubtractedWidths {
    double ci95 = 0;
    double bound = 0;
};

inline SubtractedWidths subtracted_widths(const ProbeCounts &inside,
                                          const FieldConstants &constants)
{
    SubtractedErrors errors;
    errors.add(constants, subtracted_error(1, inside, constants));
    return {errors.uncertainty().ci95(), errors.bound()};
}

// Net value of all slices inside another, as a sum.
inline double children_net(const ChildSums &children, const FieldConstants &constants)
{
    return children.raw - double(children.count) * constants.inner -
           outer_sum(children, constants.outer) - program_sum(children.programs, constants.outer);
}
} // namespace nsdump
