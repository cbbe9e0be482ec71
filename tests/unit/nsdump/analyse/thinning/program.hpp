// SPDX-License-Identifier: MIT
// A simulated program whose probes are thinned: known work -> a trace with epochs, and the truth.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyse/analyse.hpp"
#include "simulation/random.hpp"
#include "support/trace_builder.hpp"

namespace simulation
{
// What is drawn.  Slice "outer" contains slices "middle", each with slices "leaf", and a mark.
struct ThinnedModel {
    int leaves = 0; // if not 0, "outer" contains as many slices "leaf", and nothing else
    int threads = 2;
    int epochs = 180;
    double shortest = 8e3, longest = 6e4; // ticks of an epoch, log-uniform
    double step = 1;
    double sigma = 0.5;        // of the logarithm of the data's size, to which work is proportional
    double load_sd = 0.2;      // of the logarithm of the load
    double load_epochs = 3;    // for how many epochs the load stays the same
    double drift = 0.3;        // share by which the load grows over the session
    double interrupts = 0.003; // share of slices that are interrupted
    double outer = 60, inner = 40; // what a pair costs in the program; half of each in START
    double mark = 30;
    double probe_sd = 3;
    double calibrated_outer = 60, calibrated_inner = 40, calibrated_mark = 30;
    double ci95 = 0.2;                        // of the calibration
    double hidden = 0;                        // cost of a pair alone, beyond calibrated_outer
    double overtaken = 0, most_overtaken = 0; // work after which STOP reads the clock; calibrated
};

struct ThinnedRun {
    nsdump::StatsReport report;
    // Trimmed mean of the work that is to be expected, from other sessions of the same program.
    std::map<std::string, double> truth;
};

ThinnedRun run_thinned(const ThinnedModel &model, Random &random);
} // namespace simulation
