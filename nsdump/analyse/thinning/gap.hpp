// SPDX-License-Identifier: MIT
// analyse: calibrated constants and what precedes the STARTs of a name -> what its pairs cost
// outside of their own slices.
#pragma once

#include <vector>

#include "analyse/correct/correction.hpp"
#include "analyse/correct/interval.hpp"
#include "analyse/correct/subtract.hpp"
#include "analyse/pair/pair.hpp"
#include "analyse/thinning/cell.hpp"
#include "analyse/thinning/collector.hpp"

namespace nsdump
{
// Up to this distance, a START may immediately follow the previous record's probe.  `step` of the
// clock.
double close_limit(const Correction &correction, double step);

// Whether on one of these CPUs, reads overtake more work than work hides of a pair.
bool is_overtaking(const std::vector<CpuSum> &cpus, const Correction &correction);

// `cpus` that the slices ran on; the errors of their constants are taken as one.
GapConstant gap_in_context(const std::vector<CpuSum> &cpus, const Starts &starts,
                           const Correction &correction);

// Of BPF programs: the share of slices whose STOP is right behind their START; those that are so in
// part count in part.
double share_behind(const std::vector<Bucket> &buckets, const BpfCosts &bpf);

// The error of one probe's constant per slice, over the CPUs that the slices of a cell ran on.
struct FromCalibration {
    double inner = 0;
    double units = 0; // INIT and EXIT inside, which are never off
    SubtractedErrors inner_errors, unit_errors;
    bool is_known = true;
};

// `behind`: the share of the slices whose STOP is right behind their START, in BPF programs.
FromCalibration calibrated_parts(const std::vector<CpuSum> &cpus, const Correction &correction,
                                 double behind);
} // namespace nsdump
