// SPDX-License-Identifier: MIT
// A session on simulated machines: calibrations and records -> trace bytes -> nsdump's report.
#pragma once

#include <deque>

#include "analyse/analyse.hpp"
#include "nsdump_support.hpp"
#include "simulation/calibrator.hpp"
#include "simulation/machine.hpp"

namespace simulation
{
class Session
{
public:
    // `cpus`: one model for each.
    Session(const std::vector<Model> &cpus, Random &random) : models_(cpus), random_(random)
    {
        trace_.info(test_support::plain_info(1e9, cpus[0].has_counter ? "cycles" : ""));
        calibrate_all(NSLICE_CALIBRATION_START, 1);
        for (uint32_t cpu = 0; cpu < models_.size(); ++cpu)
            machines_.emplace_back(models_[cpu], cpu, random_, trace_);
    }

    Machine &machine(uint32_t cpu = 0) { return machines_[cpu]; }
    uint16_t site(const std::string &name) { return trace_.site(name); }

    nsdump::StatsReport report()
    {
        calibrate_all(NSLICE_CALIBRATION_END, machines_[0].read());
        trace_.footer(NSLICE_END_CLOSED, machines_[0].read(), machines_[0].read());
        nsdump::TraceFile file(test_support::source_of(trace_.bytes()));
        return nsdump::analyse_trace(file);
    }

private:
    void calibrate_all(unsigned phase, uint64_t ticks)
    {
        std::vector<nslice_calibration_entry> entries;
        for (uint32_t cpu = 0; cpu < models_.size(); ++cpu) {
            const Model &model = models_[cpu];
            const double cost =
                phase == NSLICE_CALIBRATION_START ? model.cost_at_start : model.cost_at_end;
            for (const nslice_calibration_entry &entry : calibrate(model, cpu, cost, random_))
                entries.push_back(entry);
        }
        trace_.calibration(phase, ticks, ticks, entries, models_[0].step);
    }

    std::vector<Model> models_;
    Random &random_;
    test_support::TraceBuilder trace_;
    std::deque<Machine> machines_;
};

// The result of a trial: a mean with its interval, and the true value.
struct Outcome {
    double mean;
    double ci95;
    double truth;
};

// The share of trials whose interval holds the true value.
template <class Trial> double coverage(int trials, uint64_t seed, Trial trial)
{
    Random random(seed);
    int held = 0;
    for (int i = 0; i < trials; ++i) {
        const Outcome outcome = trial(random);
        held += std::fabs(outcome.mean - outcome.truth) <= outcome.ci95;
    }
    return double(held) / trials;
}

inline const nsdump::FieldReport &field_of(const nsdump::StatsReport &report,
                                           const std::string &slice, size_t field = 0)
{
    for (const nsdump::SliceReport &one : report.slices)
        if (one.name == slice)
            return one.values.at(field);
    throw std::runtime_error("no slice " + slice);
}
} // namespace simulation
