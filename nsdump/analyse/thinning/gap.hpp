// SPDX-License-Identifier: MIT
// analyse: calibrated constants and what precedes the STARTs of a name -> what its pairs cost
// outside of their own slices.
#pragma once

#include <vector>

#include "analyse/correct/correction.hpp"
#include "analyse/correct/interval.hpp"
#include "analyse/correct/subtract.hpp"
#include "analyse/pair/pair.hpp"
#include "analyse/thinning/cells/cell.hpp"
#include "analyse/thinning/collector.hpp"

namespace nsdump
{
// Up to this distance, a START may immediately follow the previous record's probe.  `step` of the
// clock.
double close_limit(const Correction &correction, double step);

// Whether on one of these CPUs, reads overtake more work than work hides of a pair.
bool is_overtaking(const std::vector<CpuSum> &cpus, const Correction &correction);

// The gap of a name, of which some STARTs show the distance to the record before.
struct ContextGap {
    double value = 0;
    double ci95 = 0;
    double degrees = kManyDegrees;
    double shown_bound = 0; // of those that do
    // Of the others: wrong for the same reasons as the calibrated own reads, with the same sign.
    double calibrated_bound = 0;

    double bound() const { return shown_bound + calibrated_bound; }
};

// `cpus` that the slices ran on; the errors of their constants are taken as one.
ContextGap gap_in_context(const std::vector<CpuSum> &cpus, const Starts &starts,
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
