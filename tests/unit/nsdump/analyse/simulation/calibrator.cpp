// SPDX-License-Identifier: MIT
// The model -> the calibration that the library would measure on it, by the library's own
// estimator.
#include "simulation/calibrator.hpp"

#include <cmath>

#include "calibrate/sample_turns.h"

namespace simulation
{
namespace
{
// A loop of probes, part of whose cost lies between the clock reads of START and STOP.
struct Loop {
    double inside = 0, inside_sd = 0;
    double outside = 0, outside_sd = 0;

    double cost() const { return inside + outside; }
};

Loop loop_of(const Model &model, unsigned kind)
{
    const auto &probes = model.probes;
    const double root2 = std::sqrt(2.0);
    if (kind == NSLICE_KIND_START) // half of each part belongs to START, half to STOP
        return {model.inner(), std::hypot(probes[kStart].sd, probes[kStop].sd),
                model.outer() - model.inner(), std::hypot(probes[kStart].sd, probes[kStop].sd)};
    const ProbeModel &probe = probes[kind == NSLICE_KIND_MARK   ? kMark
                                     : kind == NSLICE_KIND_INIT ? kInit
                                                                : kExit];
    return {0, 0, probe.cost(), root2 * probe.sd};
}

struct Batch {
    double outer;
    double inner;
};

struct Timed {
    double ticks;       // between two reads of the clock
    double inside_mean; // per round, the time between START and STOP
};

// Sums over many probes are drawn as one number: a very good approximation for a sum of independent
// parts.
Timed timed(const Loop &loop, double rounds, double cost, double step, Random &random)
{
    const double inside =
        cost * (rounds * loop.inside + std::sqrt(rounds) * loop.inside_sd * random.normal());
    const double outside =
        cost * (rounds * loop.outside + std::sqrt(rounds) * loop.outside_sd * random.normal());
    const double begin = random.uniform(0, step);
    return {std::floor((begin + inside + outside) / step) * step, inside / rounds};
}

// A reading of k steps and a fraction is k + 1 steps in that fraction of the cases.
double rounding_sd(double ticks, double step)
{
    const double share = std::fmod(ticks, step) / step;
    return step * std::sqrt(share * (1 - share));
}

Batch batch(const Loop &loop, double cost, double step, Random &random)
{
    const Timed once = timed(loop, kRounds, cost, step, random);
    const Timed twice = timed(loop, 2 * kRounds, cost, step, random);
    const double rounding = rounding_sd(cost * loop.inside, step) / std::sqrt(2.0 * kRounds);
    return {(twice.ticks - once.ticks) / kRounds, twice.inside_mean + rounding * random.normal()};
}

nslice_calibration_entry estimate(const Model &model, uint32_t cpu, unsigned kind, unsigned field,
                                  double cost, Random &random)
{
    const Loop loop = loop_of(model, kind);
    const double rate = field > 0 ? kCounterRate : 1,
                 step = field > 0 ? 1 / kCounterRate : model.step;
    double outer[kBatches], inner[kBatches], sorted[kBatches], wander = 0;
    for (int i = 0; i < kBatches; ++i) {
        if (i % (kBatches / kTurns) == 0)
            wander = model.wander_sd * random.normal();
        const Batch one = batch(loop, cost * (1 + wander), step, random);
        outer[i] = rate * one.outer;
        inner[i] = rate * one.inner;
    }
    const nsp_estimate outer_estimate = nsp_trimmed_mean_of_turns(outer, sorted, kBatches, kTurns);
    const nsp_estimate inner_estimate = nsp_trimmed_mean_of_turns(inner, sorted, kBatches, kTurns);
    nslice_calibration_entry entry{};
    entry.cpu = cpu;
    entry.kind = uint8_t(kind);
    entry.field = uint8_t(field);
    entry.samples = outer_estimate.samples;
    entry.trimmed = outer_estimate.trimmed;
    entry.degrees = uint16_t(nsp_degrees_of_turns(kBatches, kTurns));
    entry.outer = outer_estimate.mean;
    entry.outer_ci95 = outer_estimate.ci95;
    if (kind == NSLICE_KIND_START) {
        entry.inner = inner_estimate.mean;
        entry.inner_ci95 = inner_estimate.ci95;
    }
    return entry;
}
} // namespace

std::vector<nslice_calibration_entry> calibrate(const Model &model, uint32_t cpu, double cost,
                                                Random &random)
{
    std::vector<nslice_calibration_entry> entries;
    for (unsigned field = 0; field <= (model.has_counter ? 1u : 0u); ++field)
        for (const unsigned kind :
             {NSLICE_KIND_START, NSLICE_KIND_MARK, NSLICE_KIND_INIT, NSLICE_KIND_EXIT})
            entries.push_back(estimate(model, cpu, kind, field, cost, random));
    return entries;
}
} // namespace simulation
