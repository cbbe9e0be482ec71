// SPDX-License-Identifier: MIT
// A machine with known costs: work and probes -> the records that it would write.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "simulation/random.hpp"
#include "support/trace_builder.hpp"

namespace simulation
{
// Ticks of a probe before and after its clock read, and the standard deviation of each part.
struct ProbeModel {
    double before = 0;
    double after = 0;
    double sd = 0;

    double cost() const { return before + after; }
};

enum Probe { kStart, kStop, kMark, kInit, kExit, kProbeKinds };

inline constexpr double kCounterRate = 1.5; // of the only counter, per tick

struct Model {
    double step = 26; // ticks
    std::array<ProbeModel, kProbeKinds> probes = {
        {{9, 14, 1.5}, {9.5, 15, 1.5}, {10, 15.5, 1.5}, {10, 18, 2}, {9, 14.5, 1.5}}};
    double wander_sd = 0;       // share of the probes' cost, from turn to turn of a calibration
    double cost_at_start = 1;   // relative cost of the probes, changing linearly
    double cost_at_end = 1;     // until the session's end,
    double jump_at = -1;        // or in one jump, after this share of the slices
    double cost_in_program = 1; // relative to the cost during calibration
    double locked_phase =
        -1; // ticks from a step at which every START reads the clock; below 0: anywhere
    bool has_counter = false;

    double inner() const { return probes[kStart].after + probes[kStop].before; }
    double outer() const { return probes[kStart].cost() + probes[kStop].cost(); }
};

// One thread on one CPU.
class Machine
{
public:
    Machine(const Model &model, uint32_t cpu, Random &random, test_support::TraceBuilder &trace)
        : model_(model), cpu_(cpu), random_(random), trace_(trace),
          phase_(random.uniform(0, model.step))
    {
    }

    void work(double ticks) { now_ += ticks; }
    // Between slices: long enough that they start at random phases of the clock's steps.
    void pause();
    void start(uint16_t slice);
    void stop(uint16_t slice);
    void mark(uint16_t slice);
    void init(uint16_t unit, uint64_t packets);
    void exit(uint16_t unit);
    // Sets the share of slices done.
    void set_progress(double share);

    uint64_t read() const;

private:
    double part(double ticks, double sd) { return cost_ * (ticks + sd * random_.normal()); }
    template <class Write> void probe(Probe kind, Write write);
    test_support::Words counters() const;

    const Model &model_;
    uint32_t cpu_;
    Random &random_;
    test_support::TraceBuilder &trace_;
    double phase_;
    double now_ = 10'000;
    double cost_ = 1;
    uint64_t units_ = 0;
};
} // namespace simulation
